"""What events say in words, by plain rules over what was published: the judge of the column `rendered_message`.

It reads rows, `catalog.message_template` and `fields` with pyarrow, and shares nothing with the product.
"""

import collections
import datetime
import glob
import re

import pyarrow.dataset as ds
import pyarrow.parquet as pq

# Status codes stand with their numbers, flags and enumerations alone.
CODES = {"NtStatus": "NTSTATUS", "HResult": "HResult", "Win32Error": "Win32", "NdisStatus": None}
HEXADECIMAL_TYPES = {"HexInt32", "HexInt64", "Pointer"}
TOKEN = re.compile(r"%(0|[1-9][0-9]?(?:![^!]*!)?|%(?=[0-9])|.|$)", re.DOTALL)
SPEC = re.compile(r"!([-+ #0]*)([0-9]*)(?:\.([0-9]*))?(?:I64|I32|ll|hh|I|l|h|w|z|j)?([A-Za-z])!")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": " ", "": "%"}


def base(in_type):
    """The type of the elements of a list."""
    return re.sub(r"\[[0-9]*\]$", "", in_type)


def unsigned(value, in_type):
    """A number of 64 bits is stored with a sign."""
    return value % (1 << 64) if value < 0 and not in_type.startswith("Int") else value


def ticks(value):
    """A FILETIME."""
    time = datetime.datetime(1601, 1, 1) + datetime.timedelta(seconds=value // 10**7)
    return f"{time.isoformat()}.{value % 10**7:07}00Z"


def number(value, in_type, out_type):
    is_hexadecimal = out_type in ("Hex", "CodePointer") or (out_type is None and in_type in HEXADECIMAL_TYPES)
    return f"0x{unsigned(value, in_type):X}" if is_hexadecimal else str(unsigned(value, in_type))


def value_text(value, label, filetime, in_type, out_type):
    """One value that is no list and no structure."""
    if out_type in CODES:
        code = f"0x{value % (1 << 32):x}"
        kind = CODES[out_type]
        return f"{label} ({code})" if label else f"Unknown {kind} Error code: {code}" if kind else code
    if label is not None and not re.fullmatch("0x[0-9a-f]+", label):
        return label.replace("|", " | ")
    if filetime is not None:
        return ticks(filetime)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return "0x" + value.hex().upper()
    if isinstance(value, float):
        return f"{value:.6f}"
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S.") + f"{value.microsecond // 1000:03}Z"
    if in_type == "Guid":
        return f"{{{value}}}"
    return number(value, in_type, out_type) if isinstance(value, int) else value


class Shape:
    """An event shape: its template and its fields, each with its columns. Members of structures follow theirs, and count for nothing."""

    def __init__(self, template, fields):
        self.template = template
        top, structures = {}, ()
        for row in sorted(fields, key=lambda row: row["position"]):
            if not row["field"].startswith(structures):
                top.setdefault(row["position"], []).append(row)
                if row["in_type"].startswith("Struct"):
                    structures += (row["field"] + ".",)
        self.fields = list(top.values())

    def columns(self, rows):
        """The column of the value, that of its label, that of its ticks."""
        own = [row["column"] for row in rows if row["column"] is not None]
        names = [name for name in own if not name.endswith(("_label", "_filetime"))]
        behind = {suffix: next((name for name in own if name.endswith(suffix)), None) for suffix in ("_label", "_filetime")}
        return names[0] if names else None, behind["_label"], behind["_filetime"]


def field_text(row, declared, shape):
    """The text of a field; None where the row has none."""
    column, label, filetime = shape.columns(declared)
    in_type, out_type = declared[0]["in_type"], declared[0]["out_type"]
    value = row.get(column)
    if column is None or (value is None and row.get(filetime) is None):
        return None
    own = (base(in_type), out_type)
    assert own[0] != "Struct", "no template of the corpus inserts one"
    if not isinstance(value, list):
        return value_text(value, row.get(label), row.get(filetime), *own)
    labels = row.get(label) or [None] * len(value)
    return ", ".join(value_text(one, name, None, *own) for one, name in zip(value, labels))


def formatted(text, row, declared, shape, spec):
    flags, width, precision, conversion = SPEC.fullmatch(spec).groups()
    value = row.get(shape.columns(declared)[0])
    if isinstance(value, int) and conversion in "diuxXo":
        bits = 8 * {"8": 1, "6": 2, "2": 4, "4": 8}.get(declared[0]["in_type"][-1], 8)
        text = format(value % (1 << bits), "d" if conversion in "diu" else conversion)
    elif precision is not None:
        text = text[: int(precision or 0)]
    fill = "0" if "0" in flags and "-" not in flags and isinstance(value, int) else " "
    return text.ljust(int(width or 0)) if "-" in flags else text.rjust(int(width or 0), fill)


def render(shape, row):
    """What the event of a row says."""
    parts, at = [], 0
    for token in TOKEN.finditer(shape.template):
        parts.append(shape.template[at : token.start()])
        at, what = token.end(), token[1]
        if what == "0":
            return "".join(parts)
        if not what[:1].isdigit():
            parts.append("%%" if what == "%" and shape.template[at : at + 1].isdigit() else ESCAPES.get(what, what))
            continue
        place, _, spec = what.partition("!")
        spec = f"!{spec}"
        if spec != "!" and not SPEC.fullmatch(spec):
            what, at = place, token.start() + 1 + len(place)
            spec = "!"
        declared = shape.fields[int(place) - 1] if int(place) <= len(shape.fields) else None
        text = field_text(row, declared, shape) if declared else None
        if text is None:
            parts.append(f"%{what}")
        else:
            parts.append(text if spec == "!" else formatted(text, row, declared, shape, spec))
    return "".join(parts) + shape.template[at:]


def judge(folder):
    """How many rows have a text, and those whose text is another than this module's: (shape, row, expected, found)."""

    def read(name):
        return pq.read_table(f"{folder}/sidecar/{name}.parquet").to_pylist()

    fields = collections.defaultdict(list)
    for row in read("fields"):
        fields[row["shape"]].append(row)
    catalog = {row["shape"]: row for row in read("catalog")}
    shapes = {number: Shape(row["message_template"], fields[number]) for number, row in catalog.items() if row["message_template"]}
    count, others = 0, []
    for path in sorted(glob.glob(f"{glob.escape(folder)}/events/*")):
        for batch in ds.dataset(path).to_batches():
            for row in batch.to_pylist():
                found, number = row["rendered_message"], row["shape"]
                if row["decode_source"] == "wpp":
                    expected = row["message"]
                elif number in shapes and row["decode_status"] not in ("error", "no_schema"):
                    expected = render(shapes[number], row)
                else:
                    expected = None
                count += found is not None
                if found != expected:
                    others.append((number, row["seq"], expected, found))
    return count, others
