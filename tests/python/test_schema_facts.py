"""The pack can be made again from the facts beside it, and a provider can be added as schemas/README.md says."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

MANIFEST = """<?xml version="1.0"?>
<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
 <instrumentation xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events"><events>
  <provider name="Contoso-Brewery" guid="{6f2b3a10-0000-4000-8000-00000000c0de}" resourceFileName="a.dll" message="$(string.P)">
   <events>
    <event value="7" version="1" level="win:Error" task="Brew" opcode="win:Start" keywords="Heat" template="T" message="$(string.E)"/>
   </events>
   <tasks><task name="Brew" value="3" message="$(string.E)"/></tasks>
   <keywords><keyword name="Heat" mask="0x10"/></keywords>
   <maps><valueMap name="Kinds"><map value="1" message="$(string.K)"/></valueMap></maps>
   <templates><template tid="T">
     <data name="Kind" inType="win:UInt32" map="Kinds"/><data name="Length" inType="win:UInt16"/>
     <data name="Recipe" inType="win:Binary" length="Length"/>
   </template></templates>
  </provider></events></instrumentation>
 <localization><resources culture="en-US"><stringTable>
   <string id="P" value="A sentence about a brewery"/><string id="E" value="Brewing of %1 begins"/>
   <string id="K" value="Arabica"/>
 </stringTable></resources></localization>
</instrumentationManifest>
"""

# By hand, after the table of lines in schemas/README.md: the layout, its one origin, the event with its task, opcode and keyword.
LINES = [
    "P\t6f2b3a10-0000-4000-8000-00000000c0de\tContoso-Brewery",
    "K\t10\tHeat",
    "T\t3\tBrew",
    "M\t0\tv\tKinds\t1=Arabica",
    "L\t0\tu32@0 Kind\tu16 Length\tbin=#1 Recipe",
    "R\t0\tmsquic",
    "E\t7\t1\t2\t0-0\tBrew\tStart\t0",
]


class SchemaFacts(unittest.TestCase):
    def test_a_provider_is_added_by_its_manifest(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            shutil.copytree(ROOT / "scripts" / "schema", root / "scripts" / "schema")
            shutil.copytree(ROOT / "schemas", root / "schemas", ignore=shutil.ignore_patterns("settled", "target"))
            manifest = root / "brewery.man"
            manifest.write_text(MANIFEST, "utf-8")
            origin = ["--origin", "msquic", "--source", "https://example.org/brewery.man", "--licence"]
            for licence, has_text in (("Apache-2.0", False), ("MIT", True)):
                subprocess.run([root / "scripts/schema/take_in", manifest, *origin, licence], check=True)
                taken = (root / "schemas/facts/manifests/brewery.man").read_text("utf-8")
                self.assertNotIn("sentence", taken)
                self.assertEqual("begins" in taken, has_text)
                self.assertIn('<string id="K" value="Arabica" />', taken)
            subprocess.run([root / "scripts/schema/build"], check=True, capture_output=True)
            section = (root / "schemas/providers/c.txt").read_text("utf-8").split(LINES[0])[1].split("\nP\t")[0]
            self.assertEqual((LINES[0] + section).splitlines(), LINES)
            texts = (root / "schemas/texts.txt").read_text("utf-8")
            brewery = "P\t6f2b3a10-0000-4000-8000-00000000c0de\tContoso-Brewery\nX\t7\t1\tmsquic\tBrewing of %1 begins\n"
            self.assertEqual(texts.replace(brewery, ""), (ROOT / "schemas/texts.txt").read_text("utf-8"))
            self.assertIn(brewery, texts)
            # All else stays as it was.
            changed = [
                path.name
                for path in sorted((ROOT / "schemas/providers").glob("*.txt"))
                if (root / "schemas/providers" / path.name).read_bytes() != path.read_bytes()
            ]
            self.assertEqual(changed, ["c.txt"])


if __name__ == "__main__":
    unittest.main()
