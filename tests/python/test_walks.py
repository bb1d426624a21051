"""What CONTRIBUTING.md says of adding a column and a filter can be done, in as many files as it says."""

import unittest

from walks import ROOT, apply, files, patches


class Walks(unittest.TestCase):
    def test_each_walk_applies_and_touches_few_files(self):
        counted = {what: len(files(patch)) for what, patch in patches().items()}
        self.assertEqual(counted, {"A column of the sidecar": 2, "A filter": 3})
        for patch in patches().values():
            apply(patch, ROOT, "--check")


if __name__ == "__main__":
    unittest.main()
