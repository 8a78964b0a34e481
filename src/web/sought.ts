/** What is looked for by typing: a keyboard may lack the accents of a name. */

/** Letters that are no others with an accent. */
const LETTERS: Readonly<Record<string, string>> = {
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
}

const plain = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[øłđðþıßæœ]/g, (letter) => LETTERS[letter] ?? letter)

/** Whether a name has what is looked for in it. */
export const isSought = (name: string, sought: string): boolean => plain(name).includes(plain(sought.trim()))
