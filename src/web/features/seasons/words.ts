/** The words of seasons. */
export const said = {
  en: {
    youAreIn: 'You are in',
    title: 'Season: {name}',
    ends: 'ends {when}',
    about:
      'One month, all users, the same money: 10,000 units of the season. The best fifth of your group goes up a division, if in profit.',
    enter: 'Enter the season',
    place: 'You play in {division}, group {group}, {others}.',
    division: 'division {n}',
    alone: 'alone so far',
    among: 'among {n}',
    table: 'The table of your group',
    promoted: 'went up',
    relegated: 'went down',
    stays: 'stayed',
    past: 'division {division} · {rank} of {members} · {outcome}',
  },
  es: {
    youAreIn: 'Ya estás dentro',
    title: 'Temporada: {name}',
    ends: 'termina el {when}',
    about:
      'Un mes, todo el mundo, el mismo dinero: 10 000 unidades de la temporada. La mejor quinta parte de tu grupo sube de división, si ha ganado.',
    enter: 'Entrar en la temporada',
    place: 'Juegas en la {division}, grupo {group}, {others}.',
    division: 'división {n}',
    alone: 'por ahora a solas',
    among: 'entre {n}',
    table: 'La tabla de tu grupo',
    promoted: 'subiste',
    relegated: 'bajaste',
    stays: 'te quedaste',
    past: 'división {division} · {rank} de {members} · {outcome}',
  },
}
