/** The words of tournaments. */
export const said = {
  en: {
    title: 'Tournaments',
    about:
      'Each match is made from a secret seed. Its hash is published before, the seed after: anyone can remake ' +
      'and compare the match. All start with the same money.',
    begins: 'begins {when}',
    running: 'being played',
    over: 'over',
    cancelled: 'cancelled',
    entrants: { one: '{n} entrant', other: '{n} entrants' },
    speed: '{n}× speed',
    commitment: 'hash of the seed',
    seed: 'seed',
    enter: 'Enter',
  },
  es: {
    title: 'Torneos',
    about:
      'Un partido hecho a partir de una semilla secreta. Su hash se conoce antes y la semilla después: cualquiera puede ' +
      'volver a crear el partido y compararlo. Todo el mundo empieza con el mismo dinero.',
    begins: 'empieza el {when}',
    running: 'en juego',
    over: 'terminado',
    cancelled: 'cancelado',
    entrants: { one: '{n} participante', other: '{n} participantes' },
    speed: 'a velocidad {n}×',
    commitment: 'hash de la semilla',
    seed: 'semilla',
    enter: 'Entrar',
  },
}
