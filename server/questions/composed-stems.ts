import { readFileSync } from 'node:fs'

const FILE = new URL('../../data/questions/composed-stems.txt', import.meta.url)

export const COMPOSERS = ['part', 'alias', 'neighbour', 'beside', 'field', 'trade'] as const
export type ComposerName = (typeof COMPOSERS)[number]

let stems: Map<string, string[]> | undefined

/** The stems of one kind; `name` undefined: the skill was named already. */
export function stemsFor(kind: ComposerName, language: string, name: string | undefined): string[] {
  stems ??= read()
  const called = name ?? stems.get(`${language} this`)![0]!
  return stems.get(`${language} ${kind}`)!.map((stem) => stem.replace('{skill}', () => called))
}

function read(): Map<string, string[]> {
  const read = new Map<string, string[]>()
  for (const line of readFileSync(FILE, 'utf8').split('\n')) {
    const [, key, text] = /^([a-z]{2} \w+) = (.+)$/.exec(line) ?? []
    if (key && text) read.set(key, [...(read.get(key) ?? []), text])
  }
  return read
}
