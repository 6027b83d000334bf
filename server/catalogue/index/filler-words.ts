import { hashOf } from './tokens.ts'

/**
 * Words that round a name off and say nothing about which skill it is: "bijli ka kaam" is about bijli, "tiles mistri" about
 * tiles. A label is as long as its other words.
 */
const FILLERS = `
ka ki ke ko kaam kam karna karne karni wala wali wale vala vali vale mistri mistry karigar work works job
का की के को काम करना करने करनी वाला वाली वाले मिस्त्री कारीगर
`

/** What people add to a skill when they ask for somebody who has it; left out where no label holds it. */
const ASKING = `
chalana chalane chalak chalaane lagana lagane banana banane sikhna aadmi ladka ladki chahiye
चलाना चलाने चालक लगाना लगाने बनाना बनाने चाहिए
operator technician manager officer engineer agent incharge specialist expert worker workers staff executive professional person man boy helper assistant
experience experienced skill skills knowledge training course jobs fresher
of for in and the a an with to
`

const fillers: ReadonlySet<number> = new Set(hashesOf(FILLERS))
const asking: ReadonlySet<string> = new Set([...wordsIn(FILLERS), ...wordsIn(ASKING)])

/** Whether the word with this hash only rounds a name off. */
export function isFiller(hash: number): boolean {
  return fillers.has(hash)
}

/** The words of a query without those that only ask; all of them when nothing else is there. */
export function withoutAsking(words: string[]): string[] {
  const telling = words.filter((word) => !asking.has(word))
  return telling.length > 0 ? telling : words
}

function wordsIn(text: string): string[] {
  return text.trim().split(/\s+/)
}

function hashesOf(text: string): number[] {
  return wordsIn(text).map(hashOf)
}
