"""The page of `report` in real browsers: at the widths of a phone, a tablet and a large screen, in the dark, printed, and by keyboard."""

import os
import unittest

import browsers
import support
from test_report import Bars, page_of, report

WIDTHS = [320, 360, 900, 1600]
# Contrast of text by WCAG 2.2, level AA: https://www.w3.org/TR/WCAG22/#contrast-minimum. Text is large from 24 pixels on, or bold from 18.66.
LOOK = r"""(() => {
  const root = document.documentElement, found = {beyond: [], charts: [], faint: []};
  found.width = [root.clientWidth, root.scrollWidth];
  found.page = getComputedStyle(document.body).backgroundColor;
  const isThere = one => one.checkVisibility() && one.getClientRects().length > 0;
  for (const svg of document.querySelectorAll("svg")) {
    if (!isThere(svg)) continue;
    const marks = [...svg.querySelectorAll("polygon, rect:not(.at)")], box = svg.getBoundingClientRect();
    const seen = marks.filter(mark => mark.getBoundingClientRect().width > 0 && mark.getBoundingClientRect().height > 0);
    found.charts.push([seen.length, Math.round(box.width), Math.round(box.height)]);
  }
  for (const one of document.querySelectorAll("body *")) {
    const box = one.getBoundingClientRect();
    if (box.right > root.clientWidth + 1 && box.width > 1 && !one.closest(".wide") && !one.closest("svg"))
      found.beyond.push(one.tagName + "." + one.className + " " + box.right);
  }
  const channels = text => {
    const numbers = text.replace(/^color\(srgb /, "").replace(/^rgba?\(/, "").replace(")", "").split(/[ ,\/]+/).map(Number);
    const [r, g, b, a = 1] = numbers, scale = text.startsWith("color(") ? 255 : 1;
    return [r * scale, g * scale, b * scale, a];
  };
  const over = (front, back) => [0, 1, 2].map(i => front[i] * front[3] + back[i] * (1 - front[3])).concat(1);
  const known = new Map([[null, [255, 255, 255, 1]]]);
  const behind = one => {
    if (!known.has(one)) known.set(one, over(channels(getComputedStyle(one).backgroundColor), behind(one.parentElement)));
    return known.get(one);
  };
  const light = color => {
    const [r, g, b] = color.map(c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const isText = one => [...one.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim()) || one.matches(".b > :first-child");
  for (const one of document.querySelectorAll("body *")) {
    if (!isText(one) || one.closest("svg") || !isThere(one)) continue;
    const style = getComputedStyle(one), back = behind(one), front = over(channels(style.color), back);
    const [low, high] = [light(front), light(back)].sort((a, b) => a - b);
    const size = parseFloat(style.fontSize), isLarge = size >= 24 || size >= 18.66 && style.fontWeight >= 700;
    const ratio = (high + 0.05) / (low + 0.05);
    if (!(ratio >= (isLarge ? 3 : 4.5))) found.faint.push(`${one.tagName}.${one.className} ${style.color} ${ratio.toFixed(2)}`);
  }
  found.faint = [...new Set(found.faint)];
  return found;
})()"""
# What has the focus: whether it can be seen, and whether something shows that it has it.
FOCUS = r"""(() => {
  const one = document.activeElement, style = getComputedStyle(one), box = one.getBoundingClientRect();
  return {tag: one.tagName, text: (one.title || one.getAttribute("aria-label") || one.textContent).trim().slice(0, 60), href: one.getAttribute("href"),
          shown: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0, inside: box.right > 0 && box.bottom > 0 && box.width > 0};
})()"""
# How wide bars are: all, the two widest processes, and the first bar below the second of these.
BARS = r"""(() => {
  const chart = document.querySelector(".flame"), width = bar => bar ? bar.getBoundingClientRect().width : null;
  const all = chart.querySelector(".b.all"), [first, second] = chart.querySelectorAll(".b.process");
  return [all, first, second, second.querySelector(".b")].map(bar => width(bar) / width(all));
})()"""


class InBrowser:
    """The checks; a class for each browser runs them."""

    @classmethod
    def setUpClass(cls):
        corpus = support.corpus()
        cls.trace = os.path.join(corpus, "perfview-net.4.5.2.x64.etl") if corpus else support.EXAMPLE
        cls.page = report(support.temporary_folder("report-browser"), cls.trace)
        try:
            cls.browser = cls.start()
        except browsers.NotStarted as reason:
            raise unittest.SkipTest(f"{cls.start.__name__} is there and does not start: {reason}") from None

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def look(self, width, dark=False):
        self.browser.open(self.page, width, dark)
        found = self.browser.run(LOOK)
        self.assertEqual(found["width"], [width, width])
        self.assertEqual(found["beyond"], [], "nothing is cut off at the right")
        self.assertEqual(found["faint"], [], "text can be read")
        self.assertEqual(self.browser.said(), [], "no word of a fault")
        self.assertEqual(self.browser.requests(), [], "the page asks for nothing")
        return found

    def test_every_width(self):
        for width in WIDTHS:
            with self.subTest(width=width):
                charts = self.look(width)["charts"]
                self.assertGreater(len(charts), 0)
                for marks, wide, high in charts:
                    self.assertGreater(marks, 0)
                    self.assertGreater(wide, min(width, 1080) * 0.6)
                    self.assertGreaterEqual(high, 28)

    def test_the_dark(self):
        self.assertEqual(self.look(900)["page"], "rgb(255, 255, 255)")
        for width in [360, 1600]:
            self.assertEqual(self.look(width, dark=True)["page"], "rgb(20, 23, 27)")

    def test_print(self):
        self.browser.open(self.page, 900)
        pages = self.browser.printed()
        self.assertTrue(pages.startswith(b"%PDF"))
        self.assertGreater(len(pages), 20_000)

    def test_everything_up_to_the_first_chart_is_reached_by_keyboard(self):
        self.browser.open(self.page, 900)
        contents = self.browser.run("document.querySelectorAll('header nav a').length")
        reached = []
        for _ in range(contents + 4):
            self.browser.press("Tab")
            reached.append(self.browser.run(FOCUS))
        self.assertEqual([(one["shown"], one["inside"]) for one in reached], [(True, True)] * len(reached), reached)
        self.assertEqual(reached[0]["text"], "To the report")
        links = [one["href"] for one in reached[1 : contents + 1]]
        self.assertEqual(links, self.browser.run("[...document.querySelectorAll('header nav a')].map(one => one.getAttribute('href'))"))

    def test_a_slice_of_the_time_is_chosen_by_keyboard(self):
        self.browser.open(self.page, 900)
        slices = "[...document.querySelectorAll('.slice')].map(one => one.checkVisibility())"
        self.assertGreater(len(self.browser.run(slices)), 0)
        self.assertFalse(any(self.browser.run(slices)))
        self.browser.run("document.querySelector('.ruler a').focus()")
        self.browser.press("Tab")
        self.assertTrue(self.browser.run(FOCUS)["shown"])
        self.browser.press("Enter")
        chosen = "[...document.querySelectorAll('.slice')].filter(one => one.checkVisibility()).map(one => one.id)"
        [name] = self.browser.run(chosen)
        self.assertTrue(name.endswith("-slice-1"), name)
        box = "(box => [box.width, box.height])(document.querySelector('.slice:target svg').getBoundingClientRect())"
        wide, high = self.browser.run(box)
        self.assertGreater(wide, 500)
        self.assertGreater(high, 28)
        # The first link of the slice leads to the one before it.
        self.browser.press("Tab")
        self.assertEqual(self.browser.run(FOCUS)["text"], "earlier")
        self.browser.press("Enter")
        self.assertTrue(self.browser.run(chosen)[0].endswith("-slice-0"))

    def test_a_bar_is_chosen_by_keyboard(self):
        self.browser.open(self.page, 1000)
        bars = Bars(page_of(self.page).source).bars
        if not bars:
            self.skipTest("a trace without stacks")
        # The widest two processes, and what the second one calls most.
        first, second = [path for path in bars if len(path) == 1][:2]
        below = next(path for path in bars if path[:-1] == second)
        first, second, below = (bars[path][2]["width"] / 100 for path in (first, second, below))
        self.assert_widths(self.browser.run(BARS), [1, first, second, second * below])
        self.browser.run("document.querySelector('.flame').focus()")
        for text in ["all samples", None]:
            self.browser.press("Tab")
            focus = self.browser.run(FOCUS)
            self.assertTrue(focus["shown"] and focus["inside"], focus)
            self.assertTrue(text is None or focus["text"].startswith(text), focus)
        self.browser.press("Enter")
        seen = self.browser.run(BARS)
        self.assert_widths(seen[:3], [1, 1, 0])
        self.browser.run("document.querySelectorAll('.flame')[0].querySelectorAll('.b.process')[1].firstElementChild.focus()")
        self.browser.run("location.hash = document.querySelectorAll('.flame')[0].querySelectorAll('.b.process')[1].id")
        self.assert_widths(self.browser.run(BARS), [1, 0, 1, below])

    def assert_widths(self, seen, expected):
        for one, other in zip(seen, expected, strict=True):
            self.assertAlmostEqual(one, other, delta=0.002)


@unittest.skipUnless(browsers.CHROMIUM, "no Chromium: the page is not looked at in it")
class InChromium(InBrowser, unittest.TestCase):
    start = browsers.Chromium


@unittest.skipUnless(browsers.FIREFOX, "no Firefox: the page is not looked at in it")
class InFirefox(InBrowser, unittest.TestCase):
    start = browsers.Firefox


if __name__ == "__main__":
    unittest.main()
