/** The words of the table of a match. */
export const said = {
  en: {
    title: 'Ranks of this match',
    about: 'ROI of positions closed in this match.',
    final: 'Final.',
    none: 'No positions of this match are closed yet.',
    mine: 'Rank {rank} of {total}',
    unranked: 'Close a position in this match to be ranked.',
    between: 'Next to you',
    leagues: 'My leagues',
  },
  es: {
    title: 'Clasificación de este partido',
    about: 'ROI de las posiciones cerradas en este partido.',
    final: 'Definitiva.',
    none: 'Todavía no hay posiciones cerradas en este partido.',
    mine: 'Puesto {rank} de {total}',
    unranked: 'Cierra una posición en este partido para aparecer aquí.',
    between: 'Cerca de ti',
    leagues: 'Mis ligas',
  },
}
