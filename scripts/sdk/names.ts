/** Splits an identifier or a phrase into lower-case words: `createTestClock`, `test-clocks`, `next_cursor`, `Skill requests`. */
export function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())
}

export function camelCase(name: string): string {
  const [first = '', ...others] = wordsOf(name)
  return first + others.map(capitalize).join('')
}

export function pascalCase(name: string): string {
  return wordsOf(name).map(capitalize).join('')
}

export function snakeCase(name: string): string {
  return wordsOf(name).join('_')
}

/** Returns the singular of a regular English plural, or the word itself if it is not one. */
export function singular(word: string): string {
  if (/(ss|us|is|ics)$/.test(word)) return word
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  if (/(ches|shes|xes|sses)$/.test(word)) return word.slice(0, -2)
  return word.endsWith('s') ? word.slice(0, -1) : word
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
