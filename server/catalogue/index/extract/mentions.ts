import type { NearWords } from '../labels/near-words.ts'
import { isAsking } from '../lexicon/filler-words.ts'
import { isDevanagari } from '../text/sounds.ts'
import { APART, checkOf, checkOn, hashOf, hashOn, JOINED, NEXT, SPACED, type Tokens } from '../text/tokens.ts'
import type { FormTable, Trie } from './mention-tables.ts'
import type { MentionWalls } from './punctuated-names.ts'

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
  private readonly labelCount: number
  private readonly walls: MentionWalls
  /** Labels of the same stems as the one that is found. */
  readonly alike: ReadonlyMap<number, readonly number[]>
  private readonly nearWords: NearWords
  private text = ''
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
      labelCount: number
      walls: MentionWalls
      alike: ReadonlyMap<number, readonly number[]>
    },
    nearWords: NearWords,
  ) {
    this.forms = tables.forms
    this.singles = tables.singles
    this.firstNodes = tables.firstNodes
    this.alone = tables.alone
    this.roles = tables.roles
    this.trie = tables.trie
    this.labelCount = tables.labelCount
    this.walls = tables.walls
    this.alike = tables.alike
    this.nearWords = nearWords
  }

  /** Calls `found` with the longest label that begins at each word: its first word and the one behind its last. */
  each(text: string, tokens: Tokens, found: Finding): void {
    this.number(tokens)
    this.text = text
    const { row, compounds, firstNodes, alone, roles, singles, trie } = this
    const { count, hashes, checks, gaps, ends } = tokens
    for (let from = 0; from < count; from++) {
      const number = row[from]!
      if (number >= 0) {
        const node = firstNodes[number]!
        const label = alone[number] ? singles.find(hashes[from]!, checks[from]!) : -1
        const next = from + 1 < count ? row[from + 1]! : -1
        const role = next >= 0 ? roles[next]! : 0
        // Of "Hindi/English typing" Hindi is no language; behind a comma it may be.
        const sign = node !== 0 && gaps[from + 1] !== SPACED ? text.charCodeAt(ends[from]!) : 0
        const slashed = sign === SLASH && gaps[from + 1] === JOINED
        if (slashed) this.shareListed(tokens, from, from + 1, node, found)
        if (
          node !== 0 &&
          from + 1 < count &&
          (trie.mayStep(node, next) || compounds[from + 1]! >= 0 || (role === LINK && this.mayLink(tokens, from, node)))
        )
          this.walk(tokens, from, from + 1, node, label, found)
        else if (label >= 0) found(label, from, from + 1)
        if (node !== 0 && (sign === COMMA || (role === AND && !slashed)) && this.goesOn(tokens, from + 1)) {
          const listed = this.shareListed(tokens, from, from + 1, node, found)
          if (!listed && role === AND) this.shareLast(tokens, from, node, found)
        }
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
    if (node !== 0 && at < count && gaps[at] === APART) {
      const over = this.walls.walk(this.text, tokens, row, trie, from, at, node)
      if (over) {
        found(over.label, from, over.end)
        return
      }
    }
    // A beginning of two words may be shared too: "single needle and overlock sewing".
    if (at > next && end < at && node !== 0 && this.goesOn(tokens, at)) this.shareListed(tokens, from, at, node, found)
    if (best < 0) return
    found(best, from, end)
    if (branch !== 0) this.shareFirst(tokens, end, branch, found)
  }

  /** Whether a list goes on with the word at `at`: behind a comma or a slash, or by an "and". */
  private goesOn({ count, starts, ends, gaps }: Tokens, at: number): boolean {
    if (at >= count) return false
    if (gaps[at] === SPACED) return this.row[at]! >= 0 && this.roles[this.row[at]!] === AND
    let signs = 0
    for (let i = ends[at - 1]!; i < starts[at]!; i++) {
      const unit = this.text.charCodeAt(i)
      if (unit === COMMA || unit === SLASH) signs++
      else if (unit !== SPACE) return false
    }
    return signs === 1
  }

  /** "wheel alignment, balancing and rotation" is wheel balancing too: the words before the last are not said again. */
  private shareFirst(tokens: Tokens, end: number, node: number, found: Finding): void {
    const { row, roles, trie } = this
    for (let at = end; this.goesOn(tokens, at); at++) {
      if (row[at]! >= 0 && roles[row[at]!] === AND) at++
      if (at >= tokens.count || (tokens.gaps[at] === APART && at !== end) || row[at]! < 0) return
      if (!this.endsItem(tokens, at + 1)) return
      const slot = trie.step(node, row[at]!)
      const label = slot < 0 ? -1 : trie.labelAt(slot)
      if (label < 0 || label >= this.labelCount) return
      if (!this.standsForItself(tokens, at)) found(label, at, at + 1)
    }
  }

  /** "hair cut, mehndi" is no henna for hair, nor "cutting master, helper" a helper of his: what is a name, or a trade, borrows none. */
  private standsForItself({ hashes, checks }: Tokens, at: number): boolean {
    return (
      isAsking(hashes[at]!) || (this.alone[this.row[at]!] === 1 && this.singles.find(hashes[at]!, checks[at]!) >= 0)
    )
  }

  /** Whether what stands before the word at `at` is whole. */
  private endsItem({ count, gaps }: Tokens, at: number): boolean {
    return (
      at >= count ||
      gaps[at] === APART ||
      gaps[at] === JOINED ||
      (this.row[at]! >= 0 && this.roles[this.row[at]!] !== 0)
    )
  }

  /** "accident and near miss investigation" is accident investigation too, "plan and lead projects" is planning them. */
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

  /**
   * "arc, MIG and TIG welding" is arc welding too: what they share is said only once. What stands between are single words, the
   * last of them with a word or two more.
   */
  private shareListed(tokens: Tokens, from: number, end: number, node: number, found: Finding): boolean {
    const { row, roles } = this
    const { gaps, count } = tokens
    let last = false
    let length = 0
    for (let at = end; at < count && at <= end + LONGEST_LIST; at++) {
      const number = row[at]!
      if (this.goesOn(tokens, at)) {
        if (last || length > 1) return false
        last = number >= 0 && roles[number] === AND
        length = last ? 0 : 1
      } else if (gaps[at] === APART || ++length > MOST_IN_LAST) return false
      const label = length > 1 && number >= 0 ? this.ending(tokens, at, node) : -1
      if (label < 0) continue
      found(label, from, end)
      return true
    }
    return false
  }

  /** The label that a beginning and the words from `at` to the end of their clause make, or -1. */
  private ending(tokens: Tokens, at: number, node: number): number {
    const { row, trie } = this
    if (!trie.mayStep(node, row[at]!)) return -1
    for (let next = at; ; next++) {
      const slot = row[next]! < 0 ? -1 : trie.step(node, row[next]!)
      if (slot < 0) return -1
      if (this.endsItem(tokens, next + 1)) {
        const label = trie.labelAt(slot)
        return label < this.labelCount ? label : -1
      }
      node = trie.nodeAt(slot)
      if (node === 0) return -1
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
/** How far a list is read for its last word. */
const LONGEST_LIST = 8
/** Words of the item that a shared word ends. */
const MOST_IN_LAST = 3

const COMMA = 0x2c
const SLASH = 0x2f
const SPACE = 0x20

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
