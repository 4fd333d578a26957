// Tabs: one is selected, its panel is shown, and the arrow keys move between them.

/** Make a tablist work. On a narrow page the first tab shows the conversation, which else stands beside the others. */
export function tabs(list, narrow, selected) {
  const all = [...list.querySelectorAll("[role=tab]")];
  const panel = (tab) => document.getElementById(tab.getAttribute("aria-controls"));
  const shown = () => (narrow.matches ? all : all.slice(1));
  let current = narrow.matches ? all[0] : all[1];

  function select(tab, focus) {
    current = tab;
    for (const each of all) {
      const chosen = each === tab;
      each.setAttribute("aria-selected", chosen);
      each.tabIndex = chosen ? 0 : -1;
      panel(each).hidden = !chosen && !(each === all[0] && !narrow.matches);
    }
    if (focus) tab.focus();
    selected(tab.id.replace("tab-", ""));
  }

  function fit() {
    const talk = panel(all[0]);
    if (narrow.matches) {
      talk.setAttribute("role", "tabpanel");
      talk.setAttribute("aria-labelledby", all[0].id);
    } else {
      talk.removeAttribute("role");
      talk.removeAttribute("aria-labelledby");
    }
    all[0].hidden = !narrow.matches;
    select(shown().includes(current) ? current : all[1], false);
  }

  list.addEventListener("click", (event) => {
    const tab = event.target.closest("[role=tab]");
    if (tab) select(tab, true);
  });
  list.addEventListener("keydown", (event) => {
    const among = shown();
    const at = among.indexOf(current);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: among.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    select(among[(to + among.length) % among.length], true);
  });
  narrow.addEventListener("change", fit);
  fit();
  return {
    /** Show a panel; where that hides what had the focus, the tab gets it. */
    show: (name) => select(document.getElementById(`tab-${name}`), narrow.matches),
    current: () => current.id.replace("tab-", ""),
  };
}
