"""The notebooks of examples/notebooks: each runs from its first cell to its last, and says what it says there."""

import ast
import base64
import contextlib
import glob
import io
import json
import os
import unittest

import support

support.package()

import matplotlib  # noqa: E402: it draws into memory

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

FOLDER = os.path.join(support.REPOSITORY, "examples", "notebooks")
WRITE = os.environ.get("ETL2PARQUET_NOTEBOOKS") == "write"


def run(source, names):
    """Runs a cell as a notebook does; returns its outputs, without pictures, and the pictures that it drew."""
    tree, last = ast.parse(source), None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    printed, outputs = io.StringIO(), []
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        value = None if last is None else eval(compile(last, "cell", "eval"), names)
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)})
    if value is not None and not type(value).__module__.startswith("matplotlib"):
        html = getattr(value, "_repr_html_", lambda: None)()
        data = {"text/html": html.splitlines(keepends=True)} if html else {}
        data["text/plain"] = repr(value).splitlines(keepends=True)
        outputs.append({"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    pictures = []
    for number in plt.get_fignums():
        picture = io.BytesIO()
        plt.figure(number).savefig(picture, dpi=72, bbox_inches="tight", metadata={"Software": None})
        pictures.append(picture.getvalue())
    plt.close("all")
    return outputs, pictures


def is_picture(output):
    return "image/png" in output.get("data", {})


class Notebooks(unittest.TestCase):
    def test_every_notebook_runs_and_says_what_it_says(self):
        paths = sorted(glob.glob(os.path.join(glob.escape(FOLDER), "*.ipynb")))
        self.assertGreater(len(paths), 0)
        for path in paths:
            with self.subTest(path):
                self.follow(path)

    def follow(self, path):
        with open(path, encoding="utf-8") as file:
            notebook = json.load(file)
        before, names, drawn = os.getcwd(), {}, 0
        os.chdir(FOLDER)
        try:
            for cell in notebook["cells"]:
                if cell["cell_type"] != "code":
                    continue
                outputs, pictures = run("".join(cell["source"]), names)
                if WRITE:
                    shown = [{"data": {"image/png": base64.b64encode(one).decode(), "text/plain": ["<Figure>"]}, "metadata": {}, "output_type": "display_data"} for one in pictures]
                    cell["outputs"] = outputs + shown
                self.assertEqual([one for one in cell["outputs"] if not is_picture(one)], outputs)
                self.assertEqual(len([one for one in cell["outputs"] if is_picture(one)]), len(pictures))
                drawn += len(pictures)
        finally:
            os.chdir(before)
        self.assertGreater(drawn, 0)
        if WRITE:
            with open(path, "w", encoding="utf-8") as file:
                file.write(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
        self.numbers(names)

    def numbers(self, names):
        """The time on processors, of the first look, once more from the switches themselves."""
        switches = names["trace"].events("Kernel-Thread", event="Thread/CSwitch", select=["seq", "timestamp_ns", "cpu", "NewThreadId"]).to_arrow().to_pylist()
        running, sums = {}, {}
        of_thread = {row["thread_id"]: row["process_id"] for row in names["trace"].table("threads").to_arrow().to_pylist()}
        of_process = {row["process_id"]: row["image_name"] for row in names["trace"].table("processes").to_arrow().to_pylist()}
        for row in switches:
            thread, since = running.get(row["cpu"], (None, 0))
            if thread:
                name = of_process.get(of_thread.get(thread))
                sums[name] = sums.get(name, 0) + row["timestamp_ns"] - since
            running[row["cpu"]] = (row["NewThreadId"], row["timestamp_ns"])
        found = {name: round(value * names["STEP_S"] * 1e9) for name, value in names["busy"].sum().items()}
        self.assertEqual(set(found), set(sums))
        for name, value in sums.items():
            self.assertAlmostEqual(found[name], value, delta=1000, msg=name)


if __name__ == "__main__":
    unittest.main()
