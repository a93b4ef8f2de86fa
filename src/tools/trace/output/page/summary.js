// SPDX-License-Identifier: BSD-3-Clause
// Fills the head of the page: what ran, how fast, and what limited it.

function fillHead(head, runs) {
  const title = runs.length > 1 ? 'Two runs compared' : runs[0].title;
  document.title = runs.length > 1 ? runs.map(run => run.title).join(' · ') : title;
  head.append(element('h1', {}, [title]));
}

const runTitle = run =>
  element('h2', { class: 'run-title' }, [element('span', { class: 'run-number' }, [String(run.number)]), run.title]);

function badge(run) {
  const [kind, said] = run.simulated ? ['simulated', 'simulated'] : ['measured', 'measured'];
  return element('span', { class: `badge ${kind}` }, [said]);
}

function figures(run) {
  const bytes = run.links.reduce((sum, link) => sum + link.bytes, 0);
  const { own, peer, host } = run.hits, reads = own + peer + host;
  const kind = run.workers.some(worker => worker.kind === 'gpu') ? 'gpu' : 'cpu';
  const busy = run.workers.filter(worker => worker.kind === kind);
  const computing = share(busy.reduce((sum, worker) => sum + worker.computing, 0), run.span * busy.length);
  const shown = [
    ['time to the end', timeText(run.span), 'span', run.span],
    ['rate', run.flops > 0 && run.span > 0 ? flopsText(run.flops / run.span) : '–', 'rate', run.flops / run.span],
    [kind === 'gpu' ? 'GPUs computing' : 'CPUs computing', percentText(computing), 'computing', computing],
    ['tasks', countText(run.tasks.count), 'tasks', run.tasks.count],
    ['moved', bytesText(bytes), 'bytes', bytes],
    ...(reads ? [['found on the GPU', percentText(own / reads), 'hits', own / reads]] : []),
  ];
  return element('dl', { class: 'figures' }, shown.map(([name, value, key, raw]) =>
    element('div', {}, [element('dt', {}, [name]), element('dd', { 'data-figure': key, 'data-value': raw }, [value])])));
}

/** The parts of the critical path as a bar, with the text that explains them. */
function verdict(run) {
  const { path } = run, bar = stackedBar(stateParts(path, run.span, run.routines));
  const legend = states.map(state => {
    const colour = element('span', { class: `swatch ${state}`, 'aria-hidden': 'true' });
    return element('span', {}, [colour, `${stateNames[state]} ${timeText(path[state], 3)}`]);
  });
  return element('div', { class: 'verdict' }, [
    element('h2', {}, ['What bounded this run']),
    element('p', { class: 'lead', id: idOf(run, 'bounded') }, [path.text]),
    element('div', { class: 'path-time' }, [
      element('span', { class: 'dim' }, [`The critical path, ${countText(path.tasks.length)} tasks`]), bar,
      element('span', { class: 'legend' }, legend)]),
    element('p', { class: 'dim' }, [`The longest chain of tasks alone would take ${timeText(path.longest_chain)}.`]),
    boundsTable(run),
  ]);
}

function summaryOf(run, several) {
  const facts = [run.machine, run.policy && `policy ${run.policy}`].filter(Boolean).join(' · ');
  return element('article', { class: 'run', 'data-run': run.number }, [
    ...(several ? [runTitle(run)] : []),
    element('p', { class: 'facts' }, [badge(run), ' ', facts]),
    ...(run.command ? [element('p', { class: 'command' }, [element('code', {}, [run.command])])] : []),
    ...run.warnings.map(warning => element('p', { class: 'warning', role: 'alert' }, [warning])),
    figures(run), verdict(run),
  ]);
}

function fillSummary(section, runs) {
  section.classList.toggle('two', runs.length > 1);
  section.append(...runs.map(run => summaryOf(run, runs.length > 1)));
}

function fillTables(place, runs, differences, jump) {
  if (runs.length > 1) place.append(differencesTable(differences));
  for (const run of runs) {
    if (runs.length > 1) place.append(runTitle(run));
    const moved = run.links.length > 0, read = run.hits.own + run.hits.peer + run.hits.host > 0;
    place.append(workersTable(run), element('div', { class: 'columns' }, [
      ...(moved ? [linksTable(run)] : []), ...(moved || read ? [operandsTable(run)] : []), routinesTable(run),
      ...(read ? [hitsTable(run)] : [])]), gapsTable(run, jump));
  }
}
