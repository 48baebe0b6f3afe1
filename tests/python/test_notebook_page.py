"""A notebook that was run and made a web page: what show() displays is drawn in a real browser."""
import importlib.util
import pathlib
import shutil
import time

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
nbconvert = pytest.importorskip("nbconvert")
pytest.importorskip("ipykernel")
webdriver = pytest.importorskip("selenium.webdriver")
if not shutil.which("chromium") or not shutil.which("chromedriver"):
    pytest.skip("chromium and its driver are not installed", allow_module_level=True)

SECONDS = 60
CELL = """
import colldsl
colldsl.load("bcast_binomial").show(ranks=8, bytes=4096)
"""


def show_tests():
    """tests/show/browser.py."""
    file = pathlib.Path(__file__).parents[1] / "show" / "browser.py"
    spec = importlib.util.spec_from_file_location("browser", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def driver(tmp_path):
    made = show_tests().start_browser(str(tmp_path / "profile"))
    yield made
    made.quit()


def test_the_page_in_the_notebook_draws(driver, tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    data = notebook.cells[0].outputs[0]["data"]
    assert set(data) == {"text/html", "image/svg+xml", "text/plain"}
    body, _ = nbconvert.HTMLExporter(template_name="basic").from_notebook_node(notebook)
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><meta charset='utf-8'>{body}", encoding="utf-8")
    driver.get(file.as_uri())
    frame = driver.find_element("css selector", "iframe")
    assert frame.size["width"] > 300 and frame.size["height"] > 300
    driver.switch_to.frame(frame)
    end = time.time() + SECONDS
    while not driver.execute_script("return Boolean(window.colldsl)"):
        assert time.time() < end, "the page did not draw"
        time.sleep(0.05)
    driver.execute_script("colldsl.paint()")
    state = driver.execute_script("return colldsl.state()")
    assert state["view"] == "space-time" and state["arrows"] == {"drawn": 7, "inView": 7}
    counts = show_tests().colors(driver.find_element("id", "canvas").screenshot_as_png)
    for name in ("send", "receive", "path"):
        color = driver.execute_script(
            "return getComputedStyle(document.documentElement).getPropertyValue('--' + arguments[0]).trim()", name)
        assert counts.get(show_tests().hex_color(color), 0) > 50, name
    assert [e for e in driver.get_log("browser") if e["level"] == "SEVERE"] == []
