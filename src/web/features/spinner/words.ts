/** The words of the spinner. */
export const said = {
  en: {
    title: 'Spinner of the week',
    decidedIn: 'Decided in {time}.',
    draw: 'A tie is decided by a draw, from a seed and the last settlement prices of the week. Hash of the seed:',
    lastWeek: 'Last week: {winner}',
    wonBy: 'Won by {winner}.',
    noLeader:
      'No leader yet. The best ROI of the week wins, among all who have closed enough positions on different players.',
    level: 'Level at the top: {names}',
    lead: 'In the lead: {names}',
    earlier: 'Earlier weeks',
    to: 'to {when}',
  },
  es: {
    title: 'La ruleta de la semana',
    decidedIn: 'Se decide en {time}.',
    draw: 'Un empate se decide por sorteo, con una semilla y los últimos precios de liquidación de la semana. Hash de la semilla:',
    lastWeek: 'La semana pasada: {winner}',
    wonBy: 'Ha ganado {winner}.',
    noLeader:
      'Todavía no hay líder. Gana el mejor ROI de la semana entre quienes hayan cerrado suficientes posiciones en jugadores distintos.',
    level: 'Empatados arriba: {names}',
    lead: 'En cabeza: {names}',
    earlier: 'Semanas anteriores',
    to: 'hasta el {when}',
  },
}
