import type { FormTable, Trie } from './mention-tables.ts'
import type { NearWords } from './near-words.ts'
import { isDevanagari } from './sounds.ts'
import { APART, checkOf, checkOn, hashOf, hashOn, JOINED, NEXT, type Tokens } from './tokens.ts'

/**
 * Finds the labels of a catalogue in a text. Every form a word may take leads to one number, so a text is first a
 * row of numbers; a trie over the numbers of the labels, flat in one array, is then walked from every word that begins
 * a label. A word of the text costs one table lookup, and one probe a step. Labels of a single word stand in a table
 * of their own, where "drives" is not "driving".
 */
export class Mentions {
  private readonly forms: FormTable
  private readonly singles: FormTable
  /** By number: the trie node after it, or 0, and whether a label of a single word may have it. */
  private readonly firstNodes: Int32Array
  private readonly alone: Uint8Array
  /** By number: whether the word only links two others. */
  private readonly roles: Uint8Array
  private readonly trie: Trie
  private readonly nearWords: NearWords
  private row = new Int32Array(0)
  private compounds = new Int32Array(0)

  constructor(
    tables: {
      forms: FormTable
      singles: FormTable
      firstNodes: Int32Array
      alone: Uint8Array
      roles: Uint8Array
      trie: Trie
    },
    nearWords: NearWords,
  ) {
    this.forms = tables.forms
    this.singles = tables.singles
    this.firstNodes = tables.firstNodes
    this.alone = tables.alone
    this.roles = tables.roles
    this.trie = tables.trie
    this.nearWords = nearWords
  }

  /** Calls `found` with the longest label that begins at each word: its first word and the one behind its last. */
  each(tokens: Tokens, found: Finding): void {
    this.number(tokens)
    const { row, compounds, firstNodes, alone, roles, singles, trie } = this
    const { count, hashes, checks } = tokens
    for (let from = 0; from < count; from++) {
      const number = row[from]!
      if (number >= 0) {
        const node = firstNodes[number]!
        const label = alone[number] ? singles.find(hashes[from]!, checks[from]!) : -1
        const next = from + 1 < count ? row[from + 1]! : -1
        const role = next >= 0 ? roles[next]! : 0
        if (
          node !== 0 &&
          from + 1 < count &&
          (trie.mayStep(node, next) || compounds[from + 1]! >= 0 || (role === LINK && this.mayLink(tokens, from, node)))
        )
          this.walk(tokens, from, from + 1, node, label, found)
        else if (label >= 0) found(label, from, from + 1)
        if (role === AND && node !== 0) this.shareLast(tokens, from, node, found)
      }
      const compound = compounds[from]!
      if (compound < 0) continue
      const label = alone[compound] ? singles.find(joinedHash(tokens, from), joinedCheck(tokens, from)) : -1
      this.walk(tokens, from, from + 2, firstNodes[compound]!, label, found)
    }
  }

  /** Whether a name may go on behind the small words that follow its first. */
  private mayLink(tokens: Tokens, from: number, node: number): boolean {
    const { row, roles, compounds } = this
    let at = from + 2
    if (at < tokens.count && row[at]! >= 0 && roles[row[at]!] === LINK) at++
    return at < tokens.count && (this.trie.mayStep(node, row[at]!) || compounds[at]! >= 0)
  }

  private walk(tokens: Tokens, from: number, next: number, node: number, label: number, found: Finding): void {
    const { row, compounds, roles, trie } = this
    const { gaps, count } = tokens
    let best = label
    let end = next
    let at = next
    let branch = 0
    let links = 0
    while (node !== 0 && at < count && gaps[at] !== APART) {
      let slot = row[at]! >= 0 ? trie.step(node, row[at]!) : -1
      let taken = 1
      if (slot < 0 && compounds[at]! >= 0) {
        slot = trie.step(node, compounds[at]!)
        taken = 2
      }
      if (slot < 0) {
        if (row[at]! < 0 || roles[row[at]!] !== LINK || ++links > MOST_LINKS) break
        at++
        continue
      }
      at += taken
      if (trie.labelAt(slot) >= 0) {
        best = trie.labelAt(slot)
        end = at
        branch = node
      }
      node = trie.nodeAt(slot)
    }
    if (best < 0) return
    found(best, from, end)
    if (branch !== 0) this.shareFirst(tokens, end, branch, found)
  }

  /** "wheel alignment and balancing" is wheel balancing too: the words before the last are not said again. */
  private shareFirst(tokens: Tokens, and: number, node: number, found: Finding): void {
    const at = and + 1
    if (at >= tokens.count || tokens.gaps[and] === APART || tokens.gaps[at] === APART) return
    const { row, roles } = this
    if (row[and]! < 0 || roles[row[and]!] !== AND || row[at]! < 0) return
    const next = at + 1 < tokens.count && tokens.gaps[at + 1] !== APART ? row[at + 1]! : -1
    if (next >= 0 ? roles[next] === 0 : at + 1 < tokens.count && tokens.gaps[at + 1] !== APART) return
    const slot = this.trie.step(node, row[at]!)
    if (slot >= 0 && this.trie.labelAt(slot) >= 0) found(this.trie.labelAt(slot), at, at + 1)
  }

  /** "accident and near miss investigation" is accident investigation too: the last word is said only once. */
  private shareLast(tokens: Tokens, from: number, node: number, found: Finding): void {
    const { gaps, count } = tokens
    if (gaps[from + 1] === APART) return
    for (let at = from + 2; at < count && at <= from + MOST_SHARED && gaps[at] !== APART; at++) {
      const number = this.row[at]!
      if (at < from + 3 || number < 0 || !this.trie.mayStep(node, number)) continue
      const slot = this.trie.step(node, number)
      if (slot < 0 || this.trie.labelAt(slot) < 0) continue
      found(this.trie.labelAt(slot), from, from + 1)
      return
    }
  }

  /** Turns words into numbers; two words joined by a hyphen may also be known as one. */
  private number(tokens: Tokens): void {
    const { forms } = this
    const { count, hashes, checks, chars, charStarts, gaps } = tokens
    if (this.row.length < count) {
      this.row = new Int32Array(tokens.starts.length)
      this.compounds = new Int32Array(tokens.starts.length)
    }
    const { row, compounds } = this
    let strange = 0
    for (let i = 0; i < count; i++) {
      let number = forms.find(hashes[i]!, checks[i]!)
      if (number < 0 && isHindi(chars[charStarts[i]!]!) && strange++ < MOST_STRANGE)
        number = this.numberBySound(tokens, i)
      row[i] = number
      compounds[i] = -1
      if (i > 0 && (gaps[i] === JOINED || gaps[i] === NEXT))
        compounds[i - 1] = forms.find(joinedHash(tokens, i - 1), joinedCheck(tokens, i - 1))
    }
  }

  /** Takes a Hindi word for one that sounds the same: हिन्दी for हिंदी, वैल्डिंग for welding. */
  private numberBySound(tokens: Tokens, at: number): number {
    const { hashes, checks } = tokens
    let number = -1
    const word = tokens.word(at)
    if (HINDI_VERBS.test(word)) return -1
    this.nearWords.soundsLike(word, (_, other) => {
      // Short Latin words are abbreviations: सहित is not CIT, nor आवास AWS.
      if (number >= 0 || (other.length <= SHORTEST_BY_SOUND && !isDevanagari(other))) return
      hashes[at] = hashOf(other)
      checks[at] = checkOf(other)
      number = this.forms.find(hashes[at]!, checks[at]!)
    })
    return number
  }
}

/**
 * Takes a label, the place of its first word and that behind its last. A label whose words stand in another order comes with its
 * number behind those of all labels.
 */
type Finding = (label: number, from: number, to: number) => void

/** What a word may be beside itself: one that links two words of a name, or one that lists. */
export const LINK = 1
export const AND = 2
/** A word that goes on after a name: what stands before it is whole. */
export const GO_ON = 3
/** How many links a name may be taken over, and how far behind an "and" the shared word may stand. */
const MOST_LINKS = 2
const MOST_SHARED = 5

/** Latin words up to this length are not taken for what a Hindi word sounds like. */
const SHORTEST_BY_SOUND = 3

/** Forms of "to do", "to be" and "to give": करने is no crane. */
const HINDI_VERBS = /^(कर|हो|दे|ले|रह)(ना|ने|नी|ता|ते|ती|के|कर|गा|गे|गी|ेगा|ेंगे|ेगी|ें|े|ो|ा)?$/

/** How many unknown Hindi words of one text are tried by their sound. */
const MOST_STRANGE = 1000

function joinedHash({ hashes, chars, charStarts }: Tokens, at: number): number {
  return hashOn(hashes[at]!, chars, charStarts[at + 1]!, charStarts[at + 2]!)
}

function joinedCheck({ checks, chars, charStarts }: Tokens, at: number): number {
  return checkOn(checks[at]!, chars, charStarts[at + 1]!, charStarts[at + 2]!)
}

function isHindi(unit: number): boolean {
  return unit >= 0x900 && unit < 0x980
}
