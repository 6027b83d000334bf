import { hashOf } from '../text/tokens.ts'

/**
 * Words that round a name off and say nothing about which skill it is: "bijli ka kaam" is about bijli, "tiles mistri" about
 * tiles, "sheesha fitting" about sheesha. A label is as long as its other words.
 */
const FILLERS = `
ka ki ke ko kaam kam karna karne karni wala wali wale vala vali vale mistri mistry karigar work works job fitting lagana
का की के को काम करना करने करनी वाला वाली वाले मिस्त्री कारीगर लगाना
`

/** What people add to a skill when they ask for somebody who has it; left out where no label holds it. */
const ASKING = `
chalana chalane chalak chalaane lagane banana banane sikhna aadmi ladka ladki chahiye
चलाना चलाने चालक लगाने बनाना बनाने चाहिए
operator technician manager officer engineer agent incharge specialist expert worker workers staff executive professional person man boy helper assistant
experience experienced skill skills knowledge training course jobs fresher
of for in and the a an with to
`

/** What people type around the name of a trade when they look for somebody. */
const WANTING = `
required require requirement requirements needed need needs wanted want wants vacancy vacancies opening openings hiring hire urgent urgently looking
near me we i naukri zarurat zaroorat jarurat jaroorat chahiye chahie chaiye chaahiye hai hain ki ke ka liye
चाहिए जरूरत नौकरी है हैं की के का लिए
`

/**
 * Words that hold a sentence together. A phrase of nothing else asks for no skill, beside others they weigh next to nothing, and
 * they are never a misspelling of something else: "can" is no canning, "may" no Maya.
 */
const FUNCTIONS = `
can could may might must shall should will would do does did done doing have has had having been being am was were not no nor dont
cannot if than then there here also just only too so but because while when where why how what which who whom whose any some all
both each every either neither other others another he she they them him her his hers theirs me ours yours im youre
about after before over under through during between without upon per via someone somebody anyone anybody everyone
person want wants wanted need needed required looking seeking urgent urgently please candidate candidates something anything
ka ki ke ko se hai hain tha thi ho hona hoga mein aur ya ek koi kuch jo wo woh yeh ye bhi nahi nahin chahiye chahie
kaam zaroorat jarurat
का की के को से है हैं हो होना होगा में और या एक कोई कुछ जो वह यह भी नहीं चाहिए काम जरूरत
`

/** These are parts of other words too, as in "make up": only by themselves they say nothing. */
const PARTICLES = 'up down out off on in job jobs'

const fillers: ReadonlySet<number> = new Set(hashesOf(FILLERS))
const asking: ReadonlySet<string> = new Set([...wordsIn(FILLERS), ...wordsIn(ASKING)])

const askingHashes: ReadonlySet<number> = new Set(hashesOf(ASKING))
const wanting: ReadonlySet<string> = new Set(wordsIn(WANTING))

export const functionWords: ReadonlySet<string> = new Set(wordsIn(FUNCTIONS))
export const particles: ReadonlySet<string> = new Set(wordsIn(PARTICLES))

/** Whether the word with this hash only rounds a name off. */
export function isFiller(hash: number): boolean {
  return fillers.has(hash)
}

/** Whether the word with this hash is a trade of its own, or only asks. */
export function isAsking(hash: number): boolean {
  return askingHashes.has(hash)
}

/** The words of a query without those that only ask; all of them when nothing else is there. */
export function withoutAsking(words: string[]): string[] {
  const telling = words.filter((word) => !asking.has(word))
  return telling.length > 0 ? telling : words
}

/** The words of a query without those that say that somebody is wanted, and how many; all of them when nothing else is there. */
export function withoutWanting(words: string[]): string[] {
  const telling = words.filter((word) => !wanting.has(word))
  if (telling.length === 0 || telling.length === words.length) return words
  return telling.length > 1 && /^\d{1,2}$/.test(telling[0]!) ? telling.slice(1) : telling
}

function wordsIn(text: string): string[] {
  return text.trim().split(/\s+/)
}

function hashesOf(text: string): number[] {
  return wordsIn(text).map(hashOf)
}
