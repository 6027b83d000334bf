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
import { isEnglishWord } from '../vectors/word-vectors.ts'
import type { FormTable, Trie } from './mention-tables.ts'
import type { PunctuatedNames } from './punctuated-names.ts'

/**
 * Tables that `MentionPatterns` builds from the labels of the catalogue. All forms of a word share one stem number: that of
 * "weld" is also that of "welding".
 */
export interface MentionTables {
  /** From word forms to stem numbers. */
  forms: FormTable
  /** From word forms to labels of a single word. */
  singleWordLabels: FormTable
  /** By stem number: the trie node of labels that begin with this stem, or 0. */
  firstNodes: Int32Array
  /** By stem number: 1 if a form with this stem may be in `singleWordLabels`. Avoids most lookups there. */
  isSingleWordLabel: Uint8Array
  /** By stem number: LINKING_WORD, CONJUNCTION, FOLLOWING_WORD, or 0 for other words. */
  functionWordKinds: Uint8Array
  trie: Trie
  labelCount: number
  punctuatedNames: PunctuatedNames
  /** By label in the trie: other labels with the same stem numbers. */
  labelsWithSameStems: ReadonlyMap<number, readonly number[]>
}

/**
 * Receives a found label. `from` is the index of its first word in the text, and `to` the index after its last word. A label that
 * was found through a variant, which is another wording of it ("loading of trucks" for truck loading), is passed as
 * label + labelCount.
 */
type MentionVisitor = (labelOrVariant: number, from: number, to: number) => void

/**
 * Finds the labels of a catalogue in a text. The words of the text are replaced by stem numbers. From each word that begins a
 * label, the finder follows a trie over the stem numbers of the labels. Each word needs one table lookup, and each trie edge
 * another one.
 *
 * Labels of a single word have a separate table with fewer forms, because other forms often mean something else: "drives" does
 * not mention the skill "driving".
 */
export class MentionFinder {
  private readonly forms: FormTable
  private readonly singleWordLabels: FormTable
  private readonly firstNodes: Int32Array
  private readonly isSingleWordLabel: Uint8Array
  private readonly functionWordKinds: Uint8Array
  private readonly trie: Trie
  private readonly labelCount: number
  private readonly punctuatedNames: PunctuatedNames
  /** By label in the trie: other labels with the same stem numbers. The trie can hold only one of them. */
  readonly labelsWithSameStems: ReadonlyMap<number, readonly number[]>
  private readonly nearWords: NearWords
  /** By word in Devanagari: the word in Latin letters that sounds alike, or an empty string. */
  private readonly latinWords = new Map<string, string>()
  private text = ''
  /** By word of the text: its stem number, or -1 if no label or function word has it. */
  private stemNumbers = new Int32Array(0)
  /** By word of the text: the stem number of the word and the next one written as one word ("cyber-security"), or -1. */
  private joinedStemNumbers = new Int32Array(0)

  constructor(tables: MentionTables, nearWords: NearWords) {
    this.forms = tables.forms
    this.singleWordLabels = tables.singleWordLabels
    this.firstNodes = tables.firstNodes
    this.isSingleWordLabel = tables.isSingleWordLabel
    this.functionWordKinds = tables.functionWordKinds
    this.trie = tables.trie
    this.labelCount = tables.labelCount
    this.punctuatedNames = tables.punctuatedNames
    this.labelsWithSameStems = tables.labelsWithSameStems
    this.nearWords = nearWords
  }

  /** Returns the arguments of the constructor. They do not include the text that was searched last. */
  storedParts(): ConstructorParameters<typeof MentionFinder> {
    const { forms, singleWordLabels, firstNodes, isSingleWordLabel, functionWordKinds } = this
    const { trie, labelCount, punctuatedNames, labelsWithSameStems } = this
    const tables = { forms, singleWordLabels, firstNodes, isSingleWordLabel, functionWordKinds }
    return [{ ...tables, trie, labelCount, punctuatedNames, labelsWithSameStems }, this.nearWords]
  }

  /** Visits the longest label that begins at each word, and labels that share a word in a list: "arc and MIG welding". */
  findAll(text: string, tokens: Tokens, visit: MentionVisitor): void {
    const hasDevanagari = this.lookUpStemNumbers(tokens)
    this.text = text
    this.scan(tokens, visit)
    if (hasDevanagari) this.scanTransliterated(tokens, visit)
  }

  /**
   * Scans the text once more with the words in Devanagari replaced by words of the catalogue in Latin letters that sound alike: कस्टमर
   * सपोर्ट also mentions the label "customer support" if another label contains "कस्टमर".
   */
  private scanTransliterated(tokens: Tokens, visit: MentionVisitor): void {
    const { hashes, checkHashes, chars, charStarts, count } = tokens
    const writtenHashes: { at: number; hash: number; checkHash: number }[] = []
    for (let at = 0; at < count; at++) {
      if (!isDevanagariUnit(chars[charStarts[at]!]!)) continue
      const latinWord = this.latinWordFor(tokens.word(at))
      if (!latinWord) continue
      writtenHashes.push({ at, hash: hashes[at]!, checkHash: checkHashes[at]! })
      hashes[at] = wordHash(latinWord)
      checkHashes[at] = checkHash(latinWord)
      this.stemNumbers[at] = this.forms.find(hashes[at]!, checkHashes[at]!)
    }
    if (writtenHashes.length > 0) this.scan(tokens, visit)
    for (const written of writtenHashes) {
      hashes[written.at] = written.hash
      checkHashes[written.at] = written.checkHash
    }
  }

  /** Returns the word of the catalogue in Latin letters that a word in Devanagari stands for, or an empty string. */
  private latinWordFor(word: string): string {
    const knownWord = this.latinWords.get(word)
    if (knownWord !== undefined) return knownWord
    let latinWord = ''
    const consider = (_: number, other: string) => {
      if (other.length <= MAX_ABBREVIATION_LENGTH || isDevanagari(other)) return
      if (latinWord && (isEnglishWord(latinWord) || !isEnglishWord(other))) return
      if (this.forms.find(wordHash(other), checkHash(other)) >= 0) latinWord = other
    }
    if (!HINDI_AUXILIARY_VERB.test(word)) {
      this.nearWords.findHomophones(word, consider)
      if (!latinWord) this.nearWords.findTransliterated(word, consider)
    }
    if (this.latinWords.size >= MAX_CACHED_LATIN_WORDS) this.latinWords.clear()
    this.latinWords.set(word, latinWord)
    return latinWord
  }

  private scan(tokens: Tokens, visit: MentionVisitor): void {
    const { text } = this
    const { stemNumbers, joinedStemNumbers, firstNodes, isSingleWordLabel, functionWordKinds, singleWordLabels, trie } =
      this
    const { count, hashes, checkHashes, gaps, ends } = tokens
    for (let from = 0; from < count; from++) {
      const stemNumber = stemNumbers[from]!
      if (stemNumber >= 0) {
        const node = firstNodes[stemNumber]!
        const label = isSingleWordLabel[stemNumber] ? singleWordLabels.find(hashes[from]!, checkHashes[from]!) : -1
        const nextStemNumber = from + 1 < count ? stemNumbers[from + 1]! : -1
        const nextKind = nextStemNumber >= 0 ? functionWordKinds[nextStemNumber]! : 0
        // Before a slash the shared head comes first: "Hindi/English typing" mentions Hindi typing, not the language.
        const nextSign = node !== 0 && gaps[from + 1] !== GAP_SPACE ? text.charCodeAt(ends[from]!) : 0
        const isSlash = nextSign === SLASH && gaps[from + 1] === GAP_JOINER
        if (isSlash) this.expandSharedHeadOfList(tokens, from, from + 1, node, visit)
        if (
          node !== 0 &&
          from + 1 < count &&
          (trie.mayHaveEdge(node, nextStemNumber) ||
            joinedStemNumbers[from + 1]! >= 0 ||
            (nextKind === LINKING_WORD && this.mayContinueAfterLinkingWords(tokens, from, node)))
        )
          this.followTrie(tokens, from, from + 1, node, label, visit)
        else if (label >= 0) visit(label, from, from + 1)
        const isListed = nextSign === COMMA || (nextKind === CONJUNCTION && !isSlash)
        if (node !== 0 && isListed && this.continuesList(tokens, from + 1)) {
          const isExpanded = this.expandSharedHeadOfList(tokens, from, from + 1, node, visit)
          if (!isExpanded && nextKind === CONJUNCTION) this.expandSharedHeadOfPair(tokens, from, node, visit)
        }
      }
      const joinedStemNumber = joinedStemNumbers[from]!
      if (joinedStemNumber < 0) continue
      const label = isSingleWordLabel[joinedStemNumber]
        ? singleWordLabels.find(joinedHash(tokens, from), joinedCheckHash(tokens, from))
        : -1
      this.followTrie(tokens, from, from + 2, firstNodes[joinedStemNumber]!, label, visit)
    }
  }

  /** Whether a label may continue after the linking words that follow its first word: "loading of the trucks". */
  private mayContinueAfterLinkingWords(tokens: Tokens, from: number, node: number): boolean {
    const { stemNumbers, functionWordKinds, joinedStemNumbers } = this
    const endWord = Math.min(tokens.count, from + 2 + MAX_SKIPPED_LINKING_WORDS)
    for (let at = from + 2; at < endWord; at++) {
      if (this.trie.mayHaveEdge(node, stemNumbers[at]!) || joinedStemNumbers[at]! >= 0) return true
      if (stemNumbers[at]! < 0 || functionWordKinds[stemNumbers[at]!] !== LINKING_WORD) return false
    }
    return false
  }

  /**
   * Visits the longest label that begins at `from`. Follows the trie from `node` with the words from `next` on. `label` is the
   * label that ends before `next`, or -1.
   */
  private followTrie(
    tokens: Tokens,
    from: number,
    next: number,
    node: number,
    label: number,
    visit: MentionVisitor,
  ): void {
    const { stemNumbers, joinedStemNumbers, functionWordKinds, trie } = this
    const { gaps, count } = tokens
    let bestLabel = label
    let bestEnd = next
    let at = next
    let matchedEnd = next
    let parentOfBestLabel = 0
    let skippedLinkingWords = 0
    while (node !== 0 && at < count && gaps[at] !== GAP_BREAK) {
      let edge = stemNumbers[at]! >= 0 ? trie.findEdge(node, stemNumbers[at]!) : -1
      let matchedWordCount = 1
      if (edge < 0 && joinedStemNumbers[at]! >= 0) {
        edge = trie.findEdge(node, joinedStemNumbers[at]!)
        matchedWordCount = 2
      }
      if (edge < 0) {
        if (
          stemNumbers[at]! < 0 ||
          functionWordKinds[stemNumbers[at]!] !== LINKING_WORD ||
          ++skippedLinkingWords > MAX_SKIPPED_LINKING_WORDS
        )
          break
        at++
        continue
      }
      at += matchedWordCount
      matchedEnd = at
      if (trie.labelAt(edge) >= 0) {
        bestLabel = trie.labelAt(edge)
        bestEnd = at
        parentOfBestLabel = node
      }
      node = trie.nodeAt(edge)
    }
    if (node !== 0 && at < count && gaps[at] === GAP_BREAK) {
      const punctuatedName = this.punctuatedNames.find(this.text, tokens, stemNumbers, trie, from, at, node)
      if (punctuatedName) {
        visit(punctuatedName.label, from, punctuatedName.end)
        return
      }
    }
    // An item of two words can share a head, too: "single needle and overlock sewing".
    if (matchedEnd === at && bestEnd < at && node !== 0 && this.continuesList(tokens, at))
      this.expandSharedHeadOfList(tokens, from, at, node, visit)
    if (bestLabel < 0) return
    visit(bestLabel, from, bestEnd)
    if (parentOfBestLabel !== 0) this.expandSharedModifier(tokens, bestEnd, parentOfBestLabel, visit)
  }

  /** Whether the word at `at` continues a list: it follows one comma or slash, or it is a conjunction. */
  private continuesList({ count, starts, ends, gaps }: Tokens, at: number): boolean {
    if (at >= count) return false
    if (gaps[at] === GAP_SPACE)
      return this.stemNumbers[at]! >= 0 && this.functionWordKinds[this.stemNumbers[at]!] === CONJUNCTION
    let signCount = 0
    for (let i = ends[at - 1]!; i < starts[at]!; i++) {
      const unit = this.text.charCodeAt(i)
      if (unit === COMMA || unit === SLASH) signCount++
      else if (unit !== SPACE) return false
    }
    return signCount === 1
  }

  /**
   * Visits the next items of a list that share the first words (the modifier) of the label before: "wheel alignment, balancing
   * and rotation" mentions wheel balancing. `end` is the index after that label, `node` the trie node of the modifier.
   */
  private expandSharedModifier(tokens: Tokens, end: number, node: number, visit: MentionVisitor): void {
    const { stemNumbers, functionWordKinds, trie } = this
    for (let at = end; this.continuesList(tokens, at); at++) {
      if (stemNumbers[at]! >= 0 && functionWordKinds[stemNumbers[at]!] === CONJUNCTION) at++
      if (at >= tokens.count || (tokens.gaps[at] === GAP_BREAK && at !== end) || stemNumbers[at]! < 0) return
      if (!this.endsItem(tokens, at + 1)) return
      const edge = trie.findEdge(node, stemNumbers[at]!)
      const label = edge < 0 ? -1 : trie.labelAt(edge)
      if (label < 0 || label >= this.labelCount) return
      if (!this.isIndependentItem(tokens, at)) visit(label, at, at + 1)
    }
  }

  /**
   * Whether a list item is itself a label or a job role, and so does not share the modifier of the item before: "hair cut,
   * mehndi" does not mention hair mehndi, and "cutting master, helper" does not mention a cutting helper.
   */
  private isIndependentItem({ hashes, checkHashes }: Tokens, at: number): boolean {
    return (
      isRoleWord(hashes[at]!) ||
      (this.isSingleWordLabel[this.stemNumbers[at]!] === 1 &&
        this.singleWordLabels.find(hashes[at]!, checkHashes[at]!) >= 0)
    )
  }

  /** Whether the list item before the word at `at` ends there: punctuation or a function word follows, or the text ends. */
  private endsItem({ count, gaps }: Tokens, at: number): boolean {
    return (
      at >= count ||
      gaps[at] === GAP_BREAK ||
      gaps[at] === GAP_JOINER ||
      (this.stemNumbers[at]! >= 0 && this.functionWordKinds[this.stemNumbers[at]!] !== 0)
    )
  }

  /**
   * Visits the first of two items that share the last word (the head): "accident and near miss investigation" mentions accident
   * investigation. `node` is the trie node of the word at `from`.
   */
  private expandSharedHeadOfPair(tokens: Tokens, from: number, node: number, visit: MentionVisitor): void {
    const { gaps, count } = tokens
    if (gaps[from + 1] === GAP_BREAK) return
    for (let at = from + 2; at < count && at <= from + MAX_SHARED_HEAD_DISTANCE_WORDS && gaps[at] !== GAP_BREAK; at++) {
      const stemNumber = this.stemNumbers[at]!
      if (at < from + 3 || stemNumber < 0 || !this.trie.mayHaveEdge(node, stemNumber)) continue
      const edge = this.trie.findEdge(node, stemNumber)
      if (edge < 0 || this.trie.labelAt(edge) < 0) continue
      visit(this.trie.labelAt(edge), from, from + 1)
      return
    }
  }

  /**
   * Visits the first item of a list that shares the last words (the head): "arc, MIG and TIG welding" mentions arc welding. The
   * first item is the words `from` up to `end`, and `node` is its trie node. The next items have one word. The last item has up
   * to MAX_LAST_ITEM_WORDS words with the head. Returns whether a label was found.
   */
  private expandSharedHeadOfList(
    tokens: Tokens,
    from: number,
    end: number,
    node: number,
    visit: MentionVisitor,
  ): boolean {
    const { stemNumbers, functionWordKinds } = this
    const { gaps, count } = tokens
    let isLastItem = false
    let itemLength = 0
    for (let at = end; at < count && at <= end + MAX_LIST_WORDS; at++) {
      const stemNumber = stemNumbers[at]!
      if (this.continuesList(tokens, at)) {
        if (isLastItem || itemLength > 1) return false
        isLastItem = stemNumber >= 0 && functionWordKinds[stemNumber] === CONJUNCTION
        itemLength = isLastItem ? 0 : 1
      } else if (gaps[at] === GAP_BREAK || ++itemLength > MAX_LAST_ITEM_WORDS) return false
      const label = itemLength > 1 && stemNumber >= 0 ? this.labelWithHead(tokens, at, node) : -1
      if (label < 0) continue
      visit(label, from, end)
      return true
    }
    return false
  }

  /** Returns the label that consists of the words of a trie node and the words from `at` to the end of their list item, or -1. */
  private labelWithHead(tokens: Tokens, at: number, node: number): number {
    const { stemNumbers, trie } = this
    if (!trie.mayHaveEdge(node, stemNumbers[at]!)) return -1
    for (let next = at; ; next++) {
      const edge = stemNumbers[next]! < 0 ? -1 : trie.findEdge(node, stemNumbers[next]!)
      if (edge < 0) return -1
      if (this.endsItem(tokens, next + 1)) {
        const label = trie.labelAt(edge)
        return label < this.labelCount ? label : -1
      }
      node = trie.nodeAt(edge)
      if (node === 0) return -1
    }
  }

  /**
   * Looks up the stem numbers of all words of the text, and of pairs of words with a hyphen or nothing between them. Returns whether the text
   * has words in Devanagari.
   */
  private lookUpStemNumbers(tokens: Tokens): boolean {
    const { forms } = this
    const { count, hashes, checkHashes, chars, charStarts, gaps } = tokens
    if (this.stemNumbers.length < count) {
      this.stemNumbers = new Int32Array(tokens.starts.length)
      this.joinedStemNumbers = new Int32Array(tokens.starts.length)
    }
    const { stemNumbers, joinedStemNumbers } = this
    let homophoneLookups = 0
    let hasDevanagari = false
    for (let i = 0; i < count; i++) {
      let stemNumber = forms.find(hashes[i]!, checkHashes[i]!)
      if (isDevanagariUnit(chars[charStarts[i]!]!)) {
        hasDevanagari = true
        if (stemNumber < 0 && homophoneLookups++ < MAX_HOMOPHONE_LOOKUPS)
          stemNumber = this.homophoneStemNumber(tokens, i)
      }
      stemNumbers[i] = stemNumber
      joinedStemNumbers[i] = -1
      if (i > 0 && (gaps[i] === GAP_JOINER || gaps[i] === GAP_NONE))
        joinedStemNumbers[i - 1] = forms.find(joinedHash(tokens, i - 1), joinedCheckHash(tokens, i - 1))
    }
    return hasDevanagari
  }

  /**
   * Returns the stem number of a homophone in the catalogue for a Hindi word, or -1: हिंदी for हिन्दी, welding for वैल्डिंग.
   * Also replaces the hashes of the word in `tokens`, so that later lookups find the homophone.
   */
  private homophoneStemNumber(tokens: Tokens, at: number): number {
    const { hashes, checkHashes } = tokens
    let stemNumber = -1
    const word = tokens.word(at)
    if (HINDI_AUXILIARY_VERB.test(word)) return -1
    this.nearWords.findHomophones(word, (_, other) => {
      // Short words in Latin letters are abbreviations: सहित does not mean CIT, and आवास does not mean AWS.
      if (stemNumber >= 0 || (other.length <= MAX_ABBREVIATION_LENGTH && !isDevanagari(other))) return
      hashes[at] = wordHash(other)
      checkHashes[at] = checkHash(other)
      stemNumber = this.forms.find(hashes[at]!, checkHashes[at]!)
    })
    return stemNumber
  }
}

/** Kinds of function words. A linking word may occur between the words of a name: "loading of the trucks". */
export const LINKING_WORD = 1
/** Joins the items of a list: "and". */
export const CONJUNCTION = 2
/** Can follow a name but is never part of it: "in", "must". */
export const FOLLOWING_WORD = 3

/** Maximum number of linking words that may be skipped within one name. */
const MAX_SKIPPED_LINKING_WORDS = 2
/** Maximum distance from the first of two list items to their shared head, in words. */
const MAX_SHARED_HEAD_DISTANCE_WORDS = 5
/** Maximum number of words after the first list item that are read to find the shared head. */
const MAX_LIST_WORDS = 8
/** Maximum number of words of the last list item, with the shared head. */
const MAX_LAST_ITEM_WORDS = 3

/** Character codes. */
const COMMA = 0x2c
const SLASH = 0x2f
const SPACE = 0x20

/** Words in Latin letters up to this length are abbreviations, which are not homophones of Hindi words. */
const MAX_ABBREVIATION_LENGTH = 3

/** Forms of the Hindi verbs "do", "be", "give", "take" and "stay", which mention no skill: करने sounds like "crane". */
const HINDI_AUXILIARY_VERB = /^(कर|हो|दे|ले|रह)(ना|ने|नी|ता|ते|ती|के|कर|गा|गे|गी|ेगा|ेंगे|ेगी|ें|े|ो|ा)?$/

/** Number of words in Devanagari whose words in Latin letters are kept. */
const MAX_CACHED_LATIN_WORDS = 4096

/** Maximum number of homophone lookups per text; they are slow. */
const MAX_HOMOPHONE_LOOKUPS = 1000

/** Returns the hash of the words `at` and `at` + 1 written as one word. */
function joinedHash({ hashes, chars, charStarts }: Tokens, at: number): number {
  return extendWordHash(hashes[at]!, chars, charStarts[at + 1]!, charStarts[at + 2]!)
}

function joinedCheckHash({ checkHashes, chars, charStarts }: Tokens, at: number): number {
  return extendCheckHash(checkHashes[at]!, chars, charStarts[at + 1]!, charStarts[at + 2]!)
}

function isDevanagariUnit(unit: number): boolean {
  return unit >= 0x900 && unit < 0x980
}
