"""The report in a browser: what it draws, and what happens when one clicks, points and presses keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import ActionChains, Chrome, Keys
from selenium.webdriver.common.by import By
from verify.browser import browser, complaints, lacking, show, wait_for

import hopsim as hs
from conftest import SWEEP
from reported import FABRIC, PROGRAM

pytestmark = pytest.mark.skipif(bool(lacking()), reason=lacking() or "a browser is there")

VISIBLE = "return [...document.querySelectorAll('.plot')].map((plot) => plot.data[{}].visible)"
COLOURS = """
    const canvas = byId(arguments[0]);
    const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    return new Set(new Uint32Array(data.buffer)).size;
"""
PICTURE = "return byId('drawing')?.toDataURL()"


@pytest.fixture(scope="module")
def driver() -> Iterator[Chrome]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports: of a sweep, of a fabric with a series of its links, and of a program."""
    folder = tmp_path_factory.mktemp("reports")
    hs.sweep(SWEEP, progress=False).report(folder / "sweep.html")
    for name, document in (("fabric", FABRIC), ("program", PROGRAM)):
        hs.Results({0: hs.run(document, progress=False)}).report(folder / f"{name}.html")
    return folder


def text(driver: Chrome, name: str) -> str:
    return driver.find_element(By.ID, name).text


def value(driver: Chrome, name: str) -> Any:
    return driver.execute_script("return byId(arguments[0]).value", name)


def picture(driver: Chrome) -> str:
    """What is drawn of the network, if it is, when everything asked for is drawn."""
    driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    return driver.execute_script(PICTURE)


@pytest.mark.parametrize("name", ["sweep", "fabric", "program"])
def test_everything_is_drawn_without_complaints(driver: Chrome, folder: Path, name: str) -> None:
    show(driver, folder / f"{name}.html")
    plots = driver.find_elements(By.CSS_SELECTOR, ".plot .main-svg")
    assert plots or name == "fabric"
    for canvas in driver.find_elements(By.CSS_SELECTOR, "canvas.drawing, canvas.gantt"):
        if canvas.is_displayed():
            picture(driver)
            assert driver.execute_script(COLOURS, canvas.get_attribute("id")) > 5
    assert complaints(driver) == []


def test_a_curve_is_hidden_in_all_panels_and_shown_again(driver: Chrome, folder: Path) -> None:
    show(driver, folder / "sweep.html")
    first, second = driver.find_elements(By.CSS_SELECTOR, ".legend button")
    assert (first.text.split()[-1], second.text.split()[-1]) == ("minimal", "valiant")
    second.click()
    assert second.get_attribute("aria-pressed") == "false"
    assert set(driver.execute_script(VISIBLE.format(1))) == {False}
    assert set(driver.execute_script(VISIBLE.format(0))) == {True}
    second.send_keys(Keys.SPACE)
    assert set(driver.execute_script(VISIBLE.format(1))) == {True}


def test_pointing_at_a_point_tells_its_numbers_and_a_click_shows_its_network(
    driver: Chrome, folder: Path
) -> None:
    show(driver, folder / "sweep.html")
    plot = driver.find_element(By.CSS_SELECTOR, '.plot[aria-label^="Accepted load"]')
    driver.execute_script("arguments[0].scrollIntoView({ behavior: 'instant', block: 'center' })", plot)
    point = plot.find_elements(By.CSS_SELECTOR, ".trace.scatter:first-child .points path")[1]
    ActionChains(driver).move_to_element(point).perform()
    wait_for(driver, "return document.querySelector('.hovertext') !== null")
    hover = driver.find_element(By.CSS_SELECTOR, ".hovertext").text
    assert "minimal" in hover
    assert "Accepted load [phits/(node·cycle)]: 0.3" in hover
    before = value(driver, "network-point")
    ActionChains(driver).click(point).perform()
    wait_for(driver, f"return byId('network-point').value !== '{before}'")
    selected = driver.execute_script("return byId('network-point').selectedOptions[0].text")
    assert selected == "minimal, offered load 0.3"


def test_another_point_changes_the_drawing_and_the_tables(driver: Chrome, folder: Path) -> None:
    show(driver, folder / "sweep.html")
    before = picture(driver), text(driver, "network-tables")
    driver.execute_script(
        "byId('network-point').value = 0; byId('network-point').dispatchEvent(new Event('change'))"
    )
    wait_for(driver, "return byId('drawing').dataset.point === '0'")
    after = picture(driver), text(driver, "network-tables")
    assert before[0] != after[0]
    assert before[1] != after[1]


def test_keys_go_from_group_to_group_and_zoom(driver: Chrome, folder: Path) -> None:
    show(driver, folder / "sweep.html")
    canvas = driver.find_element(By.ID, "drawing")
    canvas.send_keys(Keys.ARROW_RIGHT)
    assert value(driver, "pick") == "1"
    assert "Group 1: the " in text(driver, "picked")
    canvas.send_keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert value(driver, "pick") == "2", "the last of three groups is before the first"
    whole = picture(driver)
    canvas.send_keys("+")
    assert picture(driver) != whole
    canvas.send_keys("0")
    assert picture(driver) == whole


def test_pointing_at_the_network_names_what_is_there(driver: Chrome, folder: Path) -> None:
    show(driver, folder / "sweep.html")
    canvas = driver.find_element(By.ID, "drawing")
    driver.execute_script("arguments[0].scrollIntoView({ behavior: 'instant', block: 'center' })", canvas)
    picture(driver)
    # The first group is at the top.
    top = driver.execute_script("""
        const rectangle = byId('drawing').getBoundingClientRect();
        return [0, -rectangle.height / 2 + 26 + (rectangle.height - 52) * 0.04];
    """)
    ActionChains(driver).move_to_element_with_offset(canvas, *map(round, top)).perform()
    wait_for(driver, "return !byId('tip').hidden")
    assert text(driver, "tip").startswith("group 0\nhighest inside: ")


def test_the_loads_can_be_played(driver: Chrome, folder: Path) -> None:
    show(driver, folder / "fabric.html")
    assert text(driver, "moment") == "whole window"
    play = driver.find_element(By.ID, "play")
    play.click()
    assert play.text == "Pause"
    wait_for(driver, "return Number(byId('time').value) >= 3")
    play.click()
    assert play.text == "Play"
    step = int(value(driver, "time"))
    assert text(driver, "moment") == f"until {(step + 1) * 0.002:.3f}".rstrip("0") + " ms"
    driver.find_element(By.ID, "time").send_keys(Keys.ARROW_LEFT)
    assert int(value(driver, "time")) == step - 1
    driver.find_element(By.ID, "window").click()
    assert text(driver, "moment") == "whole window"
    assert complaints(driver) == []


def test_pointing_at_a_rank_tells_what_it_does(driver: Chrome, folder: Path) -> None:
    show(driver, folder / "program.html")
    canvas = driver.find_element(By.ID, "gantt")
    driver.execute_script("arguments[0].scrollIntoView({ behavior: 'instant', block: 'center' })", canvas)
    picture(driver)
    ActionChains(driver).move_to_element(canvas).perform()
    wait_for(driver, "return !byId('tip').hidden")
    assert text(driver, "tip").startswith("rank ")
    assert "cycles " in text(driver, "tip")


def test_colours_follow_the_system_and_the_button(driver: Chrome, folder: Path) -> None:
    show(driver, folder / "sweep.html")
    light = picture(driver), driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    driver.find_element(By.ID, "theme").click()
    assert driver.execute_script("return document.documentElement.dataset.theme") == "dark"
    assert picture(driver) != light[0]
    assert driver.execute_script("return getComputedStyle(document.body).backgroundColor") != light[1]
    with browser(dark=True) as other:
        show(other, folder / "sweep.html")
        assert other.execute_script("return document.documentElement.dataset.theme") == "dark"
        assert complaints(other) == []


def test_a_heading_sorts_its_table(driver: Chrome, folder: Path) -> None:
    show(driver, folder / "sweep.html")
    heading = driver.find_element(By.XPATH, "//table[contains(@class, 'sortable')]//button[. = 'latency']")
    heading.click()
    cells = """
        const rows = document.querySelector('table.sortable').tBodies[0].rows;
        return [...rows].map((row) => parseFloat(row.cells[3].textContent));
    """
    ascending = driver.execute_script(cells)
    assert ascending == sorted(ascending)
    heading.click()
    assert driver.execute_script(cells) == ascending[::-1]


def test_every_control_has_a_name_and_can_be_reached_by_keys(driver: Chrome, folder: Path) -> None:
    for name in ("sweep", "fabric", "program"):
        show(driver, folder / f"{name}.html")
        nameless = driver.execute_script("""
            const kinds = 'button, select, input, canvas:not([aria-hidden]), [role=region]';
            const controls = [...document.querySelectorAll(kinds)].filter((each) => each.offsetParent);
            const label = (each) => each.getAttribute('aria-label') || each.closest('label');
            const nameless = controls.filter((each) => !each.textContent.trim() && !label(each));
            return nameless.map((each) => each.outerHTML);
        """)
        assert nameless == []
        assert (
            driver.execute_script(
                "return document.querySelectorAll('[tabindex]:not([tabindex=\"0\"])').length"
            )
            == 0
        )
