#!/usr/bin/env python3
"""Opens pages of `colldsl show` in Debian's Chromium, without a screen: clicks, keys, pixels.

usage: browser.py COLLDSL SOURCE

Exits with 77 where Chromium, its driver or python3-selenium is not installed. Of screenshots the
colours are counted, not compared with others': fonts differ.
"""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

try:
    from selenium import webdriver
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.chrome.service import Service
except ImportError:
    print("skipped: python3-selenium is not installed")
    sys.exit(77)

SECONDS = 60  # until a page is drawn: the machine may be busy


def colors(png):
    """How often each (r, g, b) is in a PNG of 8 bits per channel."""
    at, data, width, height, channels = 8, b"", 0, 0, 3
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at : at + 8])
        if kind == b"IHDR":
            width, height = struct.unpack(">II", png[at + 8 : at + 16])
            channels = {2: 3, 6: 4}[png[at + 17]]
        if kind == b"IDAT":
            data += png[at + 8 : at + 8 + size]
        at += 12 + size
    rows, line, counts = zlib.decompress(data), bytearray(width * channels), {}
    for y in range(height):
        begin = y * (width * channels + 1)
        line = unfilter(rows[begin], rows[begin + 1 : begin + 1 + width * channels], line, channels)
        for x in range(0, len(line), channels):
            color = bytes(line[x : x + 3])
            counts[color] = counts.get(color, 0) + 1
    return counts


def unfilter(kind, row, above, channels):
    out = bytearray(row)
    for i, value in enumerate(row):
        left = out[i - channels] if i >= channels else 0
        corner = above[i - channels] if i >= channels else 0
        if kind == 1:
            out[i] = (value + left) & 255
        elif kind == 2:
            out[i] = (value + above[i]) & 255
        elif kind == 3:
            out[i] = (value + (left + above[i]) // 2) & 255
        elif kind == 4:
            p = left + above[i] - corner
            near = min((abs(p - left), 0, left), (abs(p - above[i]), 1, above[i]), (abs(p - corner), 2, corner))
            out[i] = (value + near[2]) & 255
    return out


def hex_color(text):
    return bytes.fromhex(text.lstrip("#"))


def start_browser(profile):
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 "--window-size=1300,800", f"--user-data-dir={profile}"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.binary_location = shutil.which("chromium")
    driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    driver.set_script_timeout(SECONDS)
    return driver


class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.driver = start_browser(f"{cls.folder}/profile")

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def page(self, *arguments, expect=0):
        """Makes a page with colldsl and opens it."""
        path = f"{self.folder}/{self.id()}.html"
        done = subprocess.run([COLLDSL, *arguments, path], capture_output=True, text=True)
        self.assertEqual(done.returncode, expect, done.stderr)
        self.open(path)

    def open(self, path):
        self.driver.get(f"file://{path}")
        end = time.time() + SECONDS
        while not self.js("return Boolean(window.colldsl)"):
            self.assertLess(time.time(), end, self.js("return document.getElementById('facts').textContent"))
            time.sleep(0.05)

    def tearDown(self):
        wrong = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        self.assertEqual(wrong, [])

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def state(self):
        self.js("colldsl.paint()")
        return self.js("return colldsl.state()")

    def key(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def canvas(self):
        return self.driver.find_element("id", "canvas")

    def at(self, x, y):
        """Moves the pointer to a place on the canvas, from its upper left."""
        size = self.canvas().size
        return ActionChains(self.driver).move_to_element_with_offset(
            self.canvas(), round(x - size["width"] / 2), round(y - size["height"] / 2))

    def place_of(self, rank, op):
        return self.js("""const v = colldsl.view(), run = v.runs[0], o = run.schedule.first[arguments[0]] + arguments[1];
            const bar = v.barOf(v.panels()[0], run, arguments[0], o);
            return [v.x(run.begin[o] + run.took[o] / 2), bar.y + bar.height / 2];""", rank, op)

    def colors(self):
        return colors(self.canvas().screenshot_as_png)

    def theme(self, name):
        color = self.js("return getComputedStyle(document.documentElement).getPropertyValue('--' + arguments[0]).trim()", name)
        return hex_color(color)

    def test_bars_arrows_and_path_are_drawn(self):
        self.page("show", "bcast_binomial", "-n", "8", "--bytes", "4KiB", "-o")
        self.assertEqual(self.state()["arrows"], {"drawn": 7, "inView": 7})
        counts = self.colors()
        for name in ("page", "send", "receive", "path"):
            self.assertGreater(counts.get(self.theme(name), 0), 50, name)
        self.key("p")
        self.assertFalse(self.state()["showsPath"])
        self.assertEqual(self.colors().get(self.theme("path"), 0), 0)

    def test_dark_pages_are_dark(self):
        self.page("show", "bcast_binomial", "-n", "4", "-o")
        light = self.theme("page")
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
        try:
            time.sleep(0.3)
            self.state()
            self.assertNotEqual(self.theme("page"), light)
            counts = self.colors()
            self.assertGreater(counts.get(self.theme("page"), 0), counts.get(light, 0))
        finally:
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

    def test_hover_names_op_bytes_source_and_wait(self):
        self.page("show", "bcast_binomial", "-n", "8", "--bytes", "4KiB", "-o")
        self.at(*self.place_of(2, 0)).perform()
        text = self.driver.find_element("id", "tip").text
        for word in ("rank 2, op 0: recv from rank 0", "4 KiB", "its message: rank 0", "stdlib/bcast.coll:", "recv buf"):
            self.assertIn(word, text)

    def test_a_click_selects_and_its_link_leads_on(self):
        self.page("show", "bcast_binomial", "-n", "8", "--bytes", "4KiB", "-o")
        self.at(*self.place_of(2, 0)).click().perform()
        self.assertEqual(self.state()["selected"], "rank 2, op 0: recv from rank 0")
        self.assertGreater(self.colors().get(self.theme("select"), 0), 10)
        self.driver.find_element("css selector", "#details a").click()
        self.assertTrue(self.state()["selected"].startswith("rank 0, op"))
        self.key(Keys.ESCAPE)
        self.assertIsNone(self.state()["selected"])

    def test_keys_zoom_move_and_fit(self):
        self.page("show", "allgather_ring", "-n", "16", "-o")
        begin, end = self.state()["time"]
        self.key("w")
        closer = self.state()["time"]
        self.assertLess(closer[1] - closer[0], end - begin)
        self.key("d")
        self.assertGreater(self.state()["time"][0], closer[0])
        self.key("a")
        self.assertAlmostEqual(self.state()["time"][0], closer[0])
        self.key("+")
        self.assertLess(self.state()["ranks"][1] - self.state()["ranks"][0], 16)
        self.key("f")
        self.assertEqual(self.state()["time"], [begin, end])
        self.assertEqual(self.state()["ranks"], [0, 16])

    def test_dragging_and_the_wheel_move(self):
        self.page("show", "allgather_ring", "-n", "16", "-o")
        self.key("w", "w")
        begin = self.state()["time"][0]
        self.at(500, 200).click_and_hold().move_by_offset(-120, 0).release().perform()
        self.assertGreater(self.state()["time"][0], begin)
        self.js("""document.getElementById('canvas').dispatchEvent(
            new WheelEvent('wheel', {deltaY: -300, ctrlKey: true, clientX: 500, clientY: 400, cancelable: true}))""")
        self.assertLess(self.state()["time"][1] - self.state()["time"][0], 0.6 * self.js("return colldsl.view().time.whole[1]"))

    def test_search_finds_and_steps(self):
        self.page("show", "allgather_ring", "-n", "8", "-o")
        self.key("/")
        self.key("rank 3 send")
        self.assertEqual(self.state()["found"], 7)
        self.key(Keys.ENTER)
        self.assertTrue(self.state()["selected"].startswith("rank 3, op"))
        self.assertEqual(self.js("return colldsl.search('nothing-like-this')"), 0)

    def test_the_critical_path_is_walked(self):
        self.page("show", "bcast_binomial", "-n", "8", "--bytes", "8", "-o")
        self.key("]")
        first = self.state()["selected"]
        self.assertEqual(first, "rank 0, op 0: send to rank 4")
        self.key("]")
        self.assertEqual(self.state()["selected"], "rank 4, op 0: recv from rank 0")
        self.key("[")
        self.assertEqual(self.state()["selected"], first)

    def test_many_ranks_are_aggregated_and_one_op_is_reached(self):
        self.page("show", "allgather_ring", "-n", "256", "--bytes", "1KiB", "-o")
        self.assertTrue(self.state()["isRaster"])
        self.assertGreater(len(self.colors()), 10)
        self.js("colldsl.search('rank 200 op 100')")
        self.js("document.getElementById('search').dispatchEvent(new Event('submit', {cancelable: true}))")
        state = self.state()
        self.assertTrue(state["selected"].startswith("rank 200, op 100"))
        self.assertFalse(state["isRaster"])

    def test_a_picture_that_moved_is_the_one_made_anew(self):
        """Moving in time keeps most pixels of the picture before."""
        self.page("show", "allgather_ring", "-n", "256", "--bytes", "1KiB", "-o")
        differ = self.js("""
            const v = colldsl.view(), c = v.surface.context, size = [0, 0, v.surface.canvas.width, v.surface.canvas.height];
            const differences = [];
            v.time.zoom(0.3);
            colldsl.paint();
            for (const share of [0.013, -0.2, 0.37, -0.0001, -0.9]) {
              const before = c.getImageData(...size).data;
              v.time.pan(share);
              colldsl.paint();
              const moved = c.getImageData(...size).data;
              v.rasters.clear();
              colldsl.paint();
              const anew = c.getImageData(...size).data;
              differences.push([moved.filter((byte, i) => byte !== anew[i]).length, moved.some((byte, i) => byte !== before[i])]);
            }
            return differences;""")
        self.assertTrue(self.state()["isRaster"])
        self.assertEqual([d[0] for d in differ], [0] * 5)
        self.assertTrue(differ[1][1])

    def test_sums_of_more_ops_than_the_limit(self):
        self.page("show", "allgather_ring", "-n", "64", "--bytes", "1KiB", "--max-events", "100", "-o")
        self.assertTrue(self.state()["isRaster"])
        self.at(500, 200).perform()
        self.assertIn("receiving", self.driver.find_element("id", "tip").text)
        self.assertIn("more than 100", self.driver.find_element("id", "details").text)
        closed = [v["id"] for v in self.js("return colldsl.views()") if v["whyNot"]]
        self.assertEqual(closed, ["dag", "provenance"])

    def test_matrix_graph_and_dag(self):
        self.page("show", "bcast_binomial", "-n", "8", "--topology", "node:2 core:4", "-o")
        self.key("2")
        self.assertEqual((self.state()["view"], self.state()["cells"]), ("matrix", 7))
        self.key("3")
        self.assertEqual((self.state()["layout"], self.state()["links"]), ("tree", 7))
        x, y = self.js("const v = colldsl.view(), n = v.graph.nodes[4]; return [v.plane.x(n.x), v.plane.y(n.y)]")
        self.at(x, y).click().perform()
        self.assertEqual(self.state()["marked"], 4)
        self.key("4")
        self.assertEqual((self.state()["rank"], self.state()["nodes"]), (7, 1))
        field = self.driver.find_element("css selector", "#controls input")
        field.clear()
        field.send_keys("4", Keys.TAB)
        self.assertEqual((self.state()["rank"], self.state()["nodes"]), (4, 3))

    def test_graphs_of_many_ranks_show_their_arrows(self):
        for collective, ranks, layout in (("allgather_ring", 64, "ring"), ("bcast_binomial", 1024, "tree")):
            self.page("show", collective, "-n", str(ranks), "--bytes", "8", "-o")
            self.js("colldsl.open('graph'); colldsl.paint()")
            state = self.state()
            self.assertEqual((state["layout"], state["nodes"]), (layout, min(ranks, 128)))
            self.assertGreater(state["gap"], 4)

    def test_a_long_name_wraps(self):
        name, source = "a" * 150, f"{self.folder}/long.coll"
        with open(source, "w") as file:
            file.write(f"collective {name}(in x: T[n], out y: T[n])\n  ensures y == x\n{{\n  copy x to y;\n}}\n")
        self.page("show", source, "-n", "3", "-o")
        wide = self.js("return [...document.querySelectorAll('h1, h2')].map(h => h.scrollWidth - h.clientWidth)")
        self.assertEqual([w for w in wide if w > 0], [])

    def test_a_network_without_links_in_use(self):
        self.page("show", "allgather_ring", "-n", "1", "--topology", "node:1", "--network", "torus:1", "-o")
        self.js("colldsl.open('links'); colldsl.paint()")
        self.assertEqual(self.js("return document.getElementById('legend').innerText"), "no message goes over a link")

    def test_the_load_of_links(self):
        self.page("show", "allgather_ring", "-n", "8", "--topology", "node:8", "--network", "torus:4x2", "--view", "links", "-o")
        state = self.state()
        self.assertEqual((state["view"], state["nodes"]), ("links", 8))
        self.assertGreater(state["links"], 7)

    def test_the_groups_of_a_dragonfly(self):
        self.page("show", "allgather_ring", "-n", "8", "--topology", "node:8", "--network", "dragonfly:2x2x2", "--view", "links", "-o")
        state = self.state()
        self.assertEqual((state["view"], state["nodes"]), ("links", 12))
        names = self.js("return colldsl.view().nodes.slice(8).map(n => n.name)")
        self.assertEqual(names, ["s0.0", "s0.1", "s1.0", "s1.1"])

    def test_provenance_follows_bytes_through_rounds(self):
        self.page("show", "allgather_ring", "-n", "4", "--bytes", "4", "--view", "provenance", "-o")
        self.assertEqual((self.state()["rounds"], self.state()["brokenPromises"]), (3, 0))
        self.js("""const s = document.getElementById('round-slider'); s.value = 1; s.dispatchEvent(new Event('input'))""")
        self.assertEqual(self.state()["round"], 1)
        held = self.js("return colldsl.view().contents()[0].map(p => p.origins.map(o => o.rank))")
        self.assertEqual(held, [[0], [], [3]])
        self.js("""const s = document.getElementById('round-slider'); s.value = 3; s.dispatchEvent(new Event('input'))""")
        x, y = self.js("const v = colldsl.view(); return [70 + v.mapWidth * 0.4, 34 + v.row / 2]")
        self.at(x, y).click().perform()
        self.assertEqual(self.state()["chosen"], {"rank": 0, "begin": 4, "end": 8})
        text = self.driver.find_element("id", "details").text
        self.assertIn("kept: each contribution is there once", text)
        self.assertIn("to rank 2 in round 1, to rank 3 in round 2, to rank 0 in round 3", text)

    def test_reductions_have_all_contributions(self):
        self.page("show", "allreduce_recursive_multiplying", "-n", "6", "--bytes", "24", "--view", "provenance", "-o")
        self.assertEqual(self.state()["brokenPromises"], 0)
        origins = self.js("return colldsl.view().contents()[3][0].origins.map(o => o.rank).sort()")
        self.assertEqual(origins, [0, 1, 2, 3, 4, 5])

    def test_blocks_of_one_source_differ(self):
        self.page("show", "alltoall_pairwise", "-n", "4", "--bytes", "4", "--view", "provenance", "-o")
        parts = self.js("const v = colldsl.view(); return v.contents()[1].map(p => [v.originLabel(p), v.color(p.origins, p.begin)])")
        self.assertEqual([label for label, _ in parts], ["0.1", "1.1", "2.1", "3.1"])
        other = self.js("const v = colldsl.view(); return v.contents()[2].map(p => [v.originLabel(p), v.color(p.origins, p.begin)])")
        self.assertEqual(other[0][0], "0.2")
        self.assertNotEqual(other[0][1], parts[0][1])

    def test_the_dag_opens_at_the_slowest_rank(self):
        self.page("show", "bcast_binomial", "-n", "8", "--bytes", "65536", "--view", "dag", "-o")
        self.assertEqual(self.state()["rank"], 7)

    def test_the_interface_of_a_sender_is_drawn(self):
        self.page("show", "bcast_flat", "-n", "3", "--bytes", "1048576", "-o")
        sends = self.js("""const run = colldsl.document.runs[0], s = run.schedule;
            return [...run.interface].map((ns, op) => [s.kind[op], ns, run.took[op]]).filter(([kind]) => kind === 0)""")
        self.assertEqual(len(sends), 2)
        for _, interface, took in sends:
            self.assertGreater(interface, 10 * took)  # a megabyte leaves long after the processor is free

    def test_comparison(self):
        self.page("show", "bcast_binomial", "--with", "bcast_flat", "-n", "8", "--view", "compare", "-o")
        self.assertEqual(self.state()["rows"], 2)
        self.assertEqual(self.driver.title, "bcast_binomial and bcast_flat, 8 ranks, 64 KiB")
        facts = self.driver.find_element("id", "facts").text
        self.assertIn("bcast_flat, 8 ranks, 64 KiB, simulated", facts)
        text = self.driver.find_element("css selector", "table").text
        self.assertIn("bcast_flat", text)
        self.assertIn("fastest", text)
        self.key("1")
        self.assertEqual(self.state()["panels"], 2)
        self.key("o")
        self.assertEqual(self.state()["panels"], 1)

    def test_measured_over_simulated(self):
        trace = f"{self.folder}/trace.json"
        subprocess.run([COLLDSL, "run", "bcast_binomial", "-n", "2", "--bytes", "8", "--iters", "3", "--trace", trace],
                       check=True, capture_output=True)
        self.page("show", "bcast_binomial", "-n", "2", "--bytes", "8", "--trace", trace, "-o")
        self.assertTrue(self.state()["isOverlaid"])
        self.assertEqual(self.js("return colldsl.document.runs.map(run => run.kind)"), ["simulated", "measured"])

    def test_a_deadlock_is_drawn_as_a_cycle(self):
        source = f"{self.folder}/cycle.coll"
        with open(source, "w", encoding="utf-8") as file:
            file.write("collective cycle(in x: T[n], out y: T[n])\n  ensures y == x@rank\n{\n"
                       "  recv y from (rank + 1) % ranks;\n  send y to (rank + ranks - 1) % ranks;\n}\n")
        self.page("verify", source, "--ranks", "3", "--bytes", "4", "--show", expect=1)
        state = self.state()
        self.assertEqual((state["view"], state["proof"]), ("failure", "deadlock"))
        self.assertGreaterEqual(state["steps"], 3)
        self.assertGreater(self.colors().get(self.theme("bad"), 0), 100)

    def test_a_race_is_drawn_with_what_comes_before_its_ops(self):
        """Without the edge between two combines of rank 0: each has a cone of its own, of ops of two ranks."""
        schedule = f"{self.folder}/race.goal"
        text = subprocess.run([COLLDSL, "opt", "allreduce_recursive_doubling", "-n", "4", "--bytes", "16"],
                              check=True, capture_output=True, text=True).stdout
        self.assertIn("l6 requires l4\n", text)
        with open(schedule, "w", encoding="utf-8") as file:
            file.write(text.replace("l6 requires l4\n", "", 1))
        self.page("verify", schedule, "--show", expect=1)
        state = self.state()
        self.assertEqual((state["proof"], state["steps"], state["cones"]), ("races", 2, [5, 8, 0]))
        edges = self.js("return colldsl.view().edges.filter(e => e.isMissing).map(e => [e.a.op, e.b.op])")
        self.assertEqual(edges, [[3, 6]])
        self.assertGreater(self.colors().get(self.theme("bad"), 0), 100)

    def test_a_wrong_value_is_shown_with_its_history(self):
        source = f"{self.folder}/wrong.coll"
        with open(f"{SOURCE}/examples/first.coll", encoding="utf-8") as file:
            text = file.read()
        sent = "send y[(rank - k + ranks) % ranks]"
        self.assertIn(sent, text)
        with open(source, "w", encoding="utf-8") as file:
            file.write(text.replace(sent, "send x"))
        self.page("verify", source, "--ranks", "3", "--bytes", "4", "--show", expect=1)
        self.assertEqual((self.state()["proof"], self.state()["marked"]), ("contract", 0))
        words = self.driver.find_element("id", "details").text
        self.assertIn("broken: found x[0..4] of rank 2", words)
        self.assertIn("x[0..4] of rank 2: to rank 0 in round", words)
        self.js("const s = document.querySelector('select[aria-label=shown]'); s.value = 'ops'; s.dispatchEvent(new Event('change'))")
        self.assertEqual(self.state()["marked"], None)
        self.assertEqual(self.state()["nodes"], 2)

    def test_a_broken_promise_is_found_in_the_bytes(self):
        source = f"{self.folder}/short.coll"
        with open(f"{SOURCE}/examples/first.coll", encoding="utf-8") as file:
            text = file.read()
        self.assertIn("0..ranks - 1 {", text)
        with open(source, "w", encoding="utf-8") as file:
            file.write(text.replace("0..ranks - 1 {", "0..ranks - 2 {"))
        self.page("verify", source, "--ranks", "4", "--bytes", "4", "--show", expect=1)
        self.assertEqual((self.state()["proof"], self.state()["marked"]), ("writes", 0))
        self.assertIn("nothing was written to y of rank", self.driver.find_element("id", "details").text)
        self.js("colldsl.open('provenance')")
        self.assertEqual(self.state()["brokenPromises"], 4)


if __name__ == "__main__":
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            print(f"skipped: {program} is not installed")
            sys.exit(77)
    COLLDSL, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1], verbosity=2)
