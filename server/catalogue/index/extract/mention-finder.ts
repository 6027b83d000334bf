import type { NearWords } from '../labels/near-words.ts'
import { isRoleWord } from '../lexicon/filler-words.ts'
import { isDevanagari } from '../text/phonetics.ts'
import {
  checkHash,
  extendCheckHash,
  extendWordHash,
  GAP_BREAK,
  GAP_JOINER,
  GAP_NONE,
  GAP_SPACE,
  type Tokens,
  wordHash,
} from '../text/tokens.ts'
import type { FormTable, Trie } from './mention-tables.ts'
import type { PunctuatedNames } from './punctuated-names.ts'

/** Data structures that `MentionPatterns` builds. */
export interface MentionTables {
  forms: FormTable
  singleWordLabels: FormTable
  /** By word number: the trie node after a first word with this number, or 0. */
  firstNodes: Int32Array
  /** By word number: 1 if a single-word label may have this number. */
  isSingleWordLabel: Uint8Array
  /** By word number: LINKING_WORD, CONJUNCTION, FOLLOWING_WORD or 0. */
  roles: Uint8Array
  trie: Trie
  labelCount: number
  punctuatedNames: PunctuatedNames
  labelsWithSameStems: ReadonlyMap<number, readonly number[]>
}

/**
 * Receives a label with the index of its first word and of the word after its last. The number of a label that was found through
 * a variant is increased by the number of labels.
 */
type MentionVisitor = (label: number, from: number, to: number) => void

/**
 * Finds the labels of a catalogue in a text. All forms of a word have one number, so a text becomes a sequence of numbers; a trie
 * over the numbers of the labels is then followed from every word that begins a label. Each word costs one table lookup, and one
 * more for each edge followed in the trie. Labels of a single word are in a table of their own, which has fewer forms: "drives" is not
 * "driving".
 */
export class MentionFinder {
  private readonly forms: FormTable
  private readonly singleWordLabels: FormTable
  private readonly firstNodes: Int32Array
  private readonly isSingleWordLabel: Uint8Array
  private readonly roles: Uint8Array
  private readonly trie: Trie
  private readonly labelCount: number
  private readonly punctuatedNames: PunctuatedNames
  /** Other labels with the same stems, by the label that is found. */
  readonly labelsWithSameStems: ReadonlyMap<number, readonly number[]>
  private readonly nearWords: NearWords
  private text = ''
  private wordNumbers = new Int32Array(0)
  /** By word: the number of the word joined with the next one, or -1. */
  private joinedNumbers = new Int32Array(0)

  constructor(tables: MentionTables, nearWords: NearWords) {
    this.forms = tables.forms
    this.singleWordLabels = tables.singleWordLabels
    this.firstNodes = tables.firstNodes
    this.isSingleWordLabel = tables.isSingleWordLabel
    this.roles = tables.roles
    this.trie = tables.trie
    this.labelCount = tables.labelCount
    this.punctuatedNames = tables.punctuatedNames
    this.labelsWithSameStems = tables.labelsWithSameStems
    this.nearWords = nearWords
  }

  /** Visits the longest label that begins at each word, and labels whose words are shared in a list. */
  findAll(text: string, tokens: Tokens, visit: MentionVisitor): void {
    this.assignNumbers(tokens)
    this.text = text
    const { wordNumbers, joinedNumbers, firstNodes, isSingleWordLabel, roles, singleWordLabels, trie } = this
    const { count, hashes, checks, gaps, ends } = tokens
    for (let from = 0; from < count; from++) {
      const number = wordNumbers[from]!
      if (number >= 0) {
        const node = firstNodes[number]!
        const label = isSingleWordLabel[number] ? singleWordLabels.find(hashes[from]!, checks[from]!) : -1
        const nextNumber = from + 1 < count ? wordNumbers[from + 1]! : -1
        const role = nextNumber >= 0 ? roles[nextNumber]! : 0
        // In "Hindi/English typing", Hindi is part of "Hindi typing"; before a comma it may be the language.
        const nextSign = node !== 0 && gaps[from + 1] !== GAP_SPACE ? text.charCodeAt(ends[from]!) : 0
        const isSlash = nextSign === SLASH && gaps[from + 1] === GAP_JOINER
        if (isSlash) this.expandSharedHeadOfList(tokens, from, from + 1, node, visit)
        if (
          node !== 0 &&
          from + 1 < count &&
          (trie.mayHaveEdge(node, nextNumber) ||
            joinedNumbers[from + 1]! >= 0 ||
            (role === LINKING_WORD && this.mayContinueAfterLinkingWords(tokens, from, node)))
        )
          this.followTrie(tokens, from, from + 1, node, label, visit)
        else if (label >= 0) visit(label, from, from + 1)
        const isListed = nextSign === COMMA || (role === CONJUNCTION && !isSlash)
        if (node !== 0 && isListed && this.continuesList(tokens, from + 1)) {
          const isExpanded = this.expandSharedHeadOfList(tokens, from, from + 1, node, visit)
          if (!isExpanded && role === CONJUNCTION) this.expandSharedHead(tokens, from, node, visit)
        }
      }
      const joinedNumber = joinedNumbers[from]!
      if (joinedNumber < 0) continue
      const label = isSingleWordLabel[joinedNumber]
        ? singleWordLabels.find(joinedHash(tokens, from), joinedCheck(tokens, from))
        : -1
      this.followTrie(tokens, from, from + 2, firstNodes[joinedNumber]!, label, visit)
    }
  }

  /** Whether a name may continue after the linking words that follow its first word. */
  private mayContinueAfterLinkingWords(tokens: Tokens, from: number, node: number): boolean {
    const { wordNumbers, roles, joinedNumbers } = this
    const endWord = Math.min(tokens.count, from + 2 + MAX_SKIPPED_LINKING_WORDS)
    for (let at = from + 2; at < endWord; at++) {
      if (this.trie.mayHaveEdge(node, wordNumbers[at]!) || joinedNumbers[at]! >= 0) return true
      if (wordNumbers[at]! < 0 || roles[wordNumbers[at]!] !== LINKING_WORD) return false
    }
    return false
  }

  /** Follows the trie from `node` and the word at `next`; `label` is the label that ends before it, or -1. */
  private followTrie(
    tokens: Tokens,
    from: number,
    next: number,
    node: number,
    label: number,
    visit: MentionVisitor,
  ): void {
    const { wordNumbers, joinedNumbers, roles, trie } = this
    const { gaps, count } = tokens
    let best = label
    let end = next
    let at = next
    let takenEnd = next
    let parentOfBest = 0
    let linkCount = 0
    while (node !== 0 && at < count && gaps[at] !== GAP_BREAK) {
      let edge = wordNumbers[at]! >= 0 ? trie.findEdge(node, wordNumbers[at]!) : -1
      let wordsTaken = 1
      if (edge < 0 && joinedNumbers[at]! >= 0) {
        edge = trie.findEdge(node, joinedNumbers[at]!)
        wordsTaken = 2
      }
      if (edge < 0) {
        if (wordNumbers[at]! < 0 || roles[wordNumbers[at]!] !== LINKING_WORD || ++linkCount > MAX_SKIPPED_LINKING_WORDS)
          break
        at++
        continue
      }
      at += wordsTaken
      takenEnd = at
      if (trie.labelAt(edge) >= 0) {
        best = trie.labelAt(edge)
        end = at
        parentOfBest = node
      }
      node = trie.nodeAt(edge)
    }
    if (node !== 0 && at < count && gaps[at] === GAP_BREAK) {
      const punctuated = this.punctuatedNames.find(this.text, tokens, wordNumbers, trie, from, at, node)
      if (punctuated) {
        visit(punctuated.label, from, punctuated.end)
        return
      }
    }
    // Items of two words can share a head, too: "single needle and overlock sewing".
    if (takenEnd === at && end < at && node !== 0 && this.continuesList(tokens, at))
      this.expandSharedHeadOfList(tokens, from, at, node, visit)
    if (best < 0) return
    visit(best, from, end)
    if (parentOfBest !== 0) this.expandSharedModifier(tokens, end, parentOfBest, visit)
  }

  /** Whether the word at `at` continues a list: it follows a comma or a slash, or is a conjunction. */
  private continuesList({ count, starts, ends, gaps }: Tokens, at: number): boolean {
    if (at >= count) return false
    if (gaps[at] === GAP_SPACE) return this.wordNumbers[at]! >= 0 && this.roles[this.wordNumbers[at]!] === CONJUNCTION
    let signCount = 0
    for (let i = ends[at - 1]!; i < starts[at]!; i++) {
      const unit = this.text.charCodeAt(i)
      if (unit === COMMA || unit === SLASH) signCount++
      else if (unit !== SPACE) return false
    }
    return signCount === 1
  }

  /** Visits further items that share the first words: "wheel alignment, balancing and rotation" mentions wheel balancing. */
  private expandSharedModifier(tokens: Tokens, end: number, node: number, visit: MentionVisitor): void {
    const { wordNumbers, roles, trie } = this
    for (let at = end; this.continuesList(tokens, at); at++) {
      if (wordNumbers[at]! >= 0 && roles[wordNumbers[at]!] === CONJUNCTION) at++
      if (at >= tokens.count || (tokens.gaps[at] === GAP_BREAK && at !== end) || wordNumbers[at]! < 0) return
      if (!this.endsItem(tokens, at + 1)) return
      const edge = trie.findEdge(node, wordNumbers[at]!)
      const label = edge < 0 ? -1 : trie.labelAt(edge)
      if (label < 0 || label >= this.labelCount) return
      if (!this.isIndependentItem(tokens, at)) visit(label, at, at + 1)
    }
  }

  /**
   * Whether a list item is a label or a role by itself and shares no words with the item before: "hair cut, mehndi" does not
   * mention hair mehndi, nor "cutting master, helper" a cutting helper.
   */
  private isIndependentItem({ hashes, checks }: Tokens, at: number): boolean {
    return (
      isRoleWord(hashes[at]!) ||
      (this.isSingleWordLabel[this.wordNumbers[at]!] === 1 && this.singleWordLabels.find(hashes[at]!, checks[at]!) >= 0)
    )
  }

  /** Whether the item before the word at `at` is complete. */
  private endsItem({ count, gaps }: Tokens, at: number): boolean {
    return (
      at >= count ||
      gaps[at] === GAP_BREAK ||
      gaps[at] === GAP_JOINER ||
      (this.wordNumbers[at]! >= 0 && this.roles[this.wordNumbers[at]!] !== 0)
    )
  }

  /** Visits the first of two items that share a head: "accident and near miss investigation" mentions accident investigation. */
  private expandSharedHead(tokens: Tokens, from: number, node: number, visit: MentionVisitor): void {
    const { gaps, count } = tokens
    if (gaps[from + 1] === GAP_BREAK) return
    for (let at = from + 2; at < count && at <= from + MAX_SHARED_HEAD_DISTANCE_WORDS && gaps[at] !== GAP_BREAK; at++) {
      const number = this.wordNumbers[at]!
      if (at < from + 3 || number < 0 || !this.trie.mayHaveEdge(node, number)) continue
      const edge = this.trie.findEdge(node, number)
      if (edge < 0 || this.trie.labelAt(edge) < 0) continue
      visit(this.trie.labelAt(edge), from, from + 1)
      return
    }
  }

  /**
   * Visits the first item of a list that shares a head: "arc, MIG and TIG welding" mentions arc welding. The items in between are
   * single words; the last one may have a word or two more.
   */
  private expandSharedHeadOfList(
    tokens: Tokens,
    from: number,
    end: number,
    node: number,
    visit: MentionVisitor,
  ): boolean {
    const { wordNumbers, roles } = this
    const { gaps, count } = tokens
    let isLastItem = false
    let itemLength = 0
    for (let at = end; at < count && at <= end + MAX_LIST_WORDS; at++) {
      const number = wordNumbers[at]!
      if (this.continuesList(tokens, at)) {
        if (isLastItem || itemLength > 1) return false
        isLastItem = number >= 0 && roles[number] === CONJUNCTION
        itemLength = isLastItem ? 0 : 1
      } else if (gaps[at] === GAP_BREAK || ++itemLength > MAX_LAST_ITEM_WORDS) return false
      const label = itemLength > 1 && number >= 0 ? this.labelWithHead(tokens, at, node) : -1
      if (label < 0) continue
      visit(label, from, end)
      return true
    }
    return false
  }

  /** Returns the label of a trie node followed by the words from `at` to the end of their item, or -1. */
  private labelWithHead(tokens: Tokens, at: number, node: number): number {
    const { wordNumbers, trie } = this
    if (!trie.mayHaveEdge(node, wordNumbers[at]!)) return -1
    for (let next = at; ; next++) {
      const edge = wordNumbers[next]! < 0 ? -1 : trie.findEdge(node, wordNumbers[next]!)
      if (edge < 0) return -1
      if (this.endsItem(tokens, next + 1)) {
        const label = trie.labelAt(edge)
        return label < this.labelCount ? label : -1
      }
      node = trie.nodeAt(edge)
      if (node === 0) return -1
    }
  }

  /** Looks up the numbers of all words of the text, and of pairs of words joined by a hyphen. */
  private assignNumbers(tokens: Tokens): void {
    const { forms } = this
    const { count, hashes, checks, chars, charStarts, gaps } = tokens
    if (this.wordNumbers.length < count) {
      this.wordNumbers = new Int32Array(tokens.starts.length)
      this.joinedNumbers = new Int32Array(tokens.starts.length)
    }
    const { wordNumbers, joinedNumbers } = this
    let homophoneLookups = 0
    for (let i = 0; i < count; i++) {
      let number = forms.find(hashes[i]!, checks[i]!)
      if (number < 0 && isDevanagariUnit(chars[charStarts[i]!]!) && homophoneLookups++ < MAX_HOMOPHONE_LOOKUPS)
        number = this.numberOfHomophone(tokens, i)
      wordNumbers[i] = number
      joinedNumbers[i] = -1
      if (i > 0 && (gaps[i] === GAP_JOINER || gaps[i] === GAP_NONE))
        joinedNumbers[i - 1] = forms.find(joinedHash(tokens, i - 1), joinedCheck(tokens, i - 1))
    }
  }

  /** Replaces a Hindi word by a homophone of the catalogue: हिन्दी by हिंदी, वैल्डिंग by welding. */
  private numberOfHomophone(tokens: Tokens, at: number): number {
    const { hashes, checks } = tokens
    let number = -1
    const word = tokens.word(at)
    if (HINDI_AUXILIARY_VERB.test(word)) return -1
    this.nearWords.findHomophones(word, (_, other) => {
      // Short Latin words are abbreviations: सहित is not CIT, nor आवास AWS.
      if (number >= 0 || (other.length <= MAX_ABBREVIATION_LENGTH && !isDevanagari(other))) return
      hashes[at] = wordHash(other)
      checks[at] = checkHash(other)
      number = this.forms.find(hashes[at]!, checks[at]!)
    })
    return number
  }
}

/** Roles of a word: it links two words of a name, joins the items of a list, or follows a complete name. */
export const LINKING_WORD = 1
export const CONJUNCTION = 2
export const FOLLOWING_WORD = 3

/** Maximum number of linking words that may be skipped within one name. */
const MAX_SKIPPED_LINKING_WORDS = 2
/** Maximum distance between the first of two items and their shared head, in words. */
const MAX_SHARED_HEAD_DISTANCE_WORDS = 5
/** Maximum number of words of a list that are read to find its head. */
const MAX_LIST_WORDS = 8
const MAX_LAST_ITEM_WORDS = 3

const COMMA = 0x2c
const SLASH = 0x2f
const SPACE = 0x20

const MAX_ABBREVIATION_LENGTH = 3

/** Forms of "to do", "to be", "to give", "to take" and "to stay": करने is not crane. */
const HINDI_AUXILIARY_VERB = /^(कर|हो|दे|ले|रह)(ना|ने|नी|ता|ते|ती|के|कर|गा|गे|गी|ेगा|ेंगे|ेगी|ें|े|ो|ा)?$/

/** Maximum number of homophone lookups per text; they are slow. */
const MAX_HOMOPHONE_LOOKUPS = 1000

function joinedHash({ hashes, chars, charStarts }: Tokens, at: number): number {
  return extendWordHash(hashes[at]!, chars, charStarts[at + 1]!, charStarts[at + 2]!)
}

function joinedCheck({ checks, chars, charStarts }: Tokens, at: number): number {
  return extendCheckHash(checks[at]!, chars, charStarts[at + 1]!, charStarts[at + 2]!)
}

function isDevanagariUnit(unit: number): boolean {
  return unit >= 0x900 && unit < 0x980
}
