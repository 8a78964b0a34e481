/** The words of the player of the week. */
export const said = {
  en: {
    title: 'Player of the week',
    week: 'Week {week}',
    none: 'No live match has settled in a week that is over.',
    rank: 'Rank',
    player: 'Player',
    team: 'Team',
    gain: 'Gain',
  },
  es: {
    title: 'Jugador de la semana',
    week: 'Semana {week}',
    none: 'Ningún partido en vivo se ha liquidado en una semana ya terminada.',
    rank: 'Puesto',
    player: 'Jugador',
    team: 'Equipo',
    gain: 'Subida',
  },
}
