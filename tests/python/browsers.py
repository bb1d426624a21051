"""Browsers without a window, driven by what they bring themselves: Chromium over a pipe (the DevTools protocol), Firefox over a socket
(Marionette). Both have the same methods, so that a test runs in each."""

import base64
import json
import os
import pathlib
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time

# Seconds in which a browser answers.
PATIENCE_S = 120
# Keys by name: as DevTools has them, and as WebDriver writes them.
KEYS = {"Tab": (9, "", "\ue004"), "Enter": (13, "\r", "\ue007")}


def program(names):
    return next(filter(None, map(shutil.which, names)), None)


# Of the pipe the descriptors are inherited, as POSIX has it.
CHROMIUM = program(["chromium", "chromium-browser", "google-chrome"]) if os.name == "posix" else None
FIREFOX = program(["firefox-esr", "firefox"])


class NotStarted(Exception):
    """A browser that is there and cannot be used, as one that may not read the folder of its profile."""


class Chromium:
    """Chromium, in a profile of its own."""

    # The pipe is two descriptors of fixed numbers.
    LAUNCH = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="etl2parquet-chromium-")
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
                   "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "about:blank"]
        launch = [sys.executable, "-c", self.LAUNCH, str(commands), str(answers), CHROMIUM, *options]
        self.process = subprocess.Popen(launch, pass_fds=(commands, answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.number, self.buffer, self.events, self.session = 0, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)
        self.media = {"media": "", "features": []}

    def receive(self):
        end = time.monotonic() + PATIENCE_S
        while b"\0" not in self.buffer:
            if not select.select([self.answers], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError("Chromium does not answer")
            read = os.read(self.answers, 1 << 20)
            if not read:
                raise AssertionError("Chromium has ended")
            self.buffer += read
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width, dark=False):
        """Shows a file at a width."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.media["features"] = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", **self.media)
        self.navigate("about:blank")
        self.events.clear()
        self.navigate(pathlib.Path(path).as_uri())

    def navigate(self, url):
        """Goes to an address, and waits until it is loaded."""
        loader = self.call("Page.navigate", url=url)["loaderId"]

        def is_loaded(event):
            of = event["params"]
            return event["method"] == "Page.lifecycleEvent" and (of["name"], of["loaderId"]) == ("load", loader)

        while not any(map(is_loaded, self.events)):
            self.events.append(self.receive())

    def run(self, expression):
        """The value of an expression on the page."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in done:
            raise AssertionError(done["exceptionDetails"])
        return done["result"].get("value")

    def press(self, key):
        code, text, _ = KEYS[key]
        pressed = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **pressed)
        self.call("Input.dispatchKeyEvent", type="keyUp", **pressed)

    def printed(self):
        """The page on paper, as PDF."""
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"])

    def said(self):
        """What the page said and what went wrong with it since it was opened."""
        kinds = ["Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Network.loadingFailed"]
        return [event["params"] for event in self.events if event["method"] in kinds]

    def requests(self):
        """What was asked for since the page was opened, without the page itself."""
        sent = [event["params"]["request"]["url"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return sent[1:]

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        shutil.rmtree(self.profile, ignore_errors=True)


class Firefox:
    """Firefox, in a profile of its own."""

    SETTINGS = {
        "marionette.port": None,
        "browser.shell.checkDefaultBrowser": False,
        "datareporting.policy.dataSubmissionEnabled": False,
        "app.update.disabledForTesting": True,
        "ui.useOverlayScrollbars": 1,
        "browser.startup.page": 0,
        "toolkit.telemetry.reportingpolicy.firstRun": False,
        "network.captive-portal-service.enabled": False,
        "network.connectivity-service.enabled": False,
    }

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="etl2parquet-firefox-")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with open(os.path.join(self.profile, "user.js"), "w", encoding="utf-8") as file:
            for name, value in {**self.SETTINGS, "marionette.port": port}.items():
                file.write(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n")
        command = [FIREFOX, "--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", self.profile, "about:blank"]
        environment = {**os.environ, "HOME": self.profile, "MOZ_CRASHREPORTER_DISABLE": "1"}
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.number, self.buffer, self.socket = 0, b"", self.connected(port)
        self.receive()
        self.call("WebDriver:NewSession", pageLoadStrategy="normal")

    def connected(self, port):
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    self.process.kill()
                    self.process.wait()
                    raise NotStarted("it opens no socket") from None
                time.sleep(0.1)

    def receive(self):
        while True:
            length, colon, rest = self.buffer.partition(b":")
            if colon and len(rest) >= int(length):
                self.buffer = rest[int(length) :]
                return json.loads(rest[: int(length)])
            read = self.socket.recv(1 << 20)
            if not read:
                raise AssertionError("Firefox has ended")
            self.buffer += read

    def call(self, name, **parameters):
        self.number += 1
        message = json.dumps([0, self.number, name, parameters]).encode()
        self.socket.sendall(str(len(message)).encode() + b":" + message)
        _, _, error, result = self.receive()
        if error:
            raise AssertionError(f"{name}: {error}")
        return result

    def in_browser(self, script, *arguments):
        """Runs a script of the browser itself."""
        self.call("Marionette:SetContext", value="chrome")
        try:
            return self.call("WebDriver:ExecuteScript", script=script, args=list(arguments))["value"]
        finally:
            self.call("Marionette:SetContext", value="content")

    def open(self, path, width, dark=False):
        self.call("WebDriver:SetWindowRect", width=max(width, 500) + 60, height=1000)
        # A window has a least width; what is within it has not.
        self.in_browser(
            """const [width, scheme] = arguments, style = gBrowser.selectedBrowser.style;
            style.minWidth = style.maxWidth = style.width = width + "px";
            Services.prefs.setIntPref("layout.css.prefers-color-scheme.content-override", scheme);
            Services.console.reset();""",
            width, 0 if dark else 1)
        self.call("WebDriver:Navigate", url="about:blank")
        self.call("WebDriver:Navigate", url=pathlib.Path(path).as_uri())

    def run(self, expression):
        return self.call("WebDriver:ExecuteScript", script=f"return ({expression});", args=[])["value"]

    def press(self, key):
        value = KEYS[key][2]
        keys = [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.call("WebDriver:PerformActions", actions=[{"type": "key", "id": "keyboard", "actions": keys}])

    def printed(self):
        return base64.b64decode(self.call("WebDriver:Print")["value"])

    def said(self):
        found = self.in_browser(
            """return Services.console.getMessageArray().filter(one => one instanceof Ci.nsIScriptError)
            .map(one => [one.sourceName, one.category, one.errorMessage]);""")
        return [one for one in found if one[0].startswith("file:")]

    def requests(self):
        return self.run("performance.getEntriesByType('resource').map(one => one.name)")

    def close(self):
        self.socket.close()
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)
