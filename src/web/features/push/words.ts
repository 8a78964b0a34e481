/** The words of messages on a device. */
export const said = {
  en: {
    warning: 'Half or more of a stake is lost',
    washout: 'A position is washed out',
    stop: 'A stop or target closes a position',
    settlement: 'Full time settles your positions',
    league: 'A league is decided',
    player: 'News and price alerts of players you follow',
    notAllowed: 'Your browser does not allow messages from this page.',
    title: 'Messages on this device',
    hint: 'Also while Touchline is closed. They are encrypted on the way, and at most 15 minutes old.',
  },
  es: {
    warning: 'Se ha perdido la mitad o más de un importe',
    washout: 'Se agota el importe de una posición',
    stop: 'Un stop o un objetivo cierra una posición',
    settlement: 'El final del partido liquida tus posiciones',
    league: 'Se decide una liga',
    player: 'Noticias y alertas de precio de los jugadores que sigues',
    notAllowed: 'Tu navegador no permite mensajes de esta página.',
    title: 'Mensajes en este dispositivo',
    hint: 'También con Touchline cerrado. Viajan cifrados y tienen como mucho 15 minutos.',
  },
}
