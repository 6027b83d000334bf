import { SeededRandom } from '../../measurement/seeded-random.ts'
import { ITEM_KINDS } from '../bank/format.ts'
import { checkItem } from '../checks.ts'
import { fingerprint } from '../fingerprint.ts'
import { findKeyPatterns } from '../key-patterns.ts'
import { hasSource } from '../lead-ins.ts'
import { isSameQuestion, itemWords } from '../near-duplicates.ts'
import type { Item, ItemsRequest, ItemsResult } from '../questions.ts'
import { foldText } from '../text.ts'
import type { RejectedItem, SkillInPrompt, WrittenItem } from './instructions.ts'
import { findSourceError } from './source-checks.ts'

/** Length of the excerpts of stems that are listed as rejected. */
const MAX_LISTED_STEM_LENGTH = 120

/** Links and addresses, which must not appear in questions or translations. */
export const LINK_PATTERN = /https?:\/\/|\bwww\.|[\w.+-]+@[\w-]+\.\w/i

/** Returns the entry of an item in the list of rejected items of a repair request. */
export const rejectedItem = (reason: string, stem: string): RejectedItem => ({
  reason,
  stem: stem.slice(0, MAX_LISTED_STEM_LENGTH),
})

interface AddResult {
  item?: Item
  rejected?: RejectedItem
}

/**
 * Collects the items of one request from several calls. Added items are pending until `confirm` is called for them; only confirmed items
 * are part of the result.
 */
export class ItemBatch {
  readonly request: ItemsRequest
  private readonly random: SeededRandom
  /** The words of each pending and each confirmed item. */
  private readonly wordsByItem = new Map<Item, ReturnType<typeof itemWords>>()
  private readonly pending = new Set<Item>()
  /** Confirmed items, and fingerprints of items that the person has seen or that were not confirmed, by skill number. */
  private readonly items = new Map<number, Item[]>()
  private readonly excludedFingerprints = new Map<number, Set<string>>()

  constructor(request: ItemsRequest) {
    this.request = request
    this.random = new SeededRandom(request.seed)
    for (const { skill, avoid } of request.skills) {
      this.items.set(skill.number, [])
      this.excludedFingerprints.set(skill.number, new Set(avoid))
    }
  }

  /** Returns the kinds of items in random order, so that attempts start with different kinds. */
  kinds(): string[] {
    return this.random.shuffled(ITEM_KINDS)
  }

  /** Adds an item as pending if it passes the checks; otherwise returns the reason for the rejection. Ignores surplus items. */
  add({ skill: number, kind, difficulty, stem, right, wrong_1, wrong_2, wrong_3 }: WrittenItem): AddResult {
    const { skill, count } = this.request.skills.find((requested) => requested.skill.number === number)!
    const pendingCount = [...this.pending].filter((item) => item.skill === number).length
    if (this.items.get(number)!.length + pendingCount >= count) return {}
    const { language, context } = this.request
    const fullStem = this.withSkillName(stem.trim(), skill.name)
    const options = [right, wrong_1, wrong_2, wrong_3].map((option) => option.trim())
    const reject = (reason: string) => ({ rejected: rejectedItem(reason, stem) })
    const [finding] = checkItem({ stem: fullStem, options, key: 0, language, about: skill.name })
    if (finding) return reject(`${finding.check}: ${finding.message.slice(0, 200)}`)
    if (LINK_PATTERN.test(`${fullStem} ${options.join(' ')}`)) return reject('contains a link or an address')
    const sourceError = findSourceError({ stem: fullStem, options, skillName: skill.name, context })
    if (sourceError) return reject(sourceError)
    const newItemWords = itemWords({ stem: fullStem, options })
    if ([...this.wordsByItem.values()].some((addedWords) => isSameQuestion(newItemWords, addedWords)))
      return reject('asks the same question as another item')
    const order = this.random.shuffled([0, 1, 2, 3])
    const item: Item = {
      skill: number,
      stem: fullStem,
      options: order.map((index) => options[index]!) as Item['options'],
      key: order.indexOf(0) as Item['key'],
      difficulty: difficulty as Item['difficulty'],
      kind,
      language,
    }
    if (this.excludedFingerprints.get(number)!.has(fingerprint(item)))
      return reject('the person has already seen it, or it was rejected before')
    this.wordsByItem.set(item, newItemWords)
    this.pending.add(item)
    return { item }
  }

  /** Confirms pending items, which makes them part of the result. */
  confirm(confirmedItems: readonly Item[]): void {
    for (const item of confirmedItems) if (this.pending.delete(item)) this.items.get(item.skill)!.push(item)
  }

  /** Discards those of the items that are still pending. The same items are not accepted again. */
  discardPending(addedItems: readonly Item[]): void {
    for (const item of addedItems) {
      if (!this.pending.delete(item)) continue
      this.wordsByItem.delete(item)
      this.excludedFingerprints.get(item.skill)!.add(fingerprint(item))
    }
  }

  /** Returns the stem with the skill's name before it, if there is a source and the stem does not contain the name. */
  private withSkillName(stem: string, name: string): string {
    return !hasSource(this.request.context) || foldText(stem).includes(foldText(name)) ? stem : `${name}: ${stem}`
  }

  /** Returns the skills that need more confirmed items, with the number of missing items. */
  missingItems(): SkillInPrompt[] {
    return this.request.skills
      .map(({ skill, count }) => ({ skill, count: count - this.items.get(skill.number)!.length }))
      .filter(({ count }) => count > 0)
  }

  allItems(): Item[] {
    return [...this.items.values()].flat()
  }

  /** Removes items; questions like them can be added again. */
  remove(removedItems: readonly Item[]): void {
    for (const item of removedItems) this.wordsByItem.delete(item)
    for (const [number, items] of this.items)
      this.items.set(
        number,
        items.filter((item) => this.wordsByItem.has(item)),
      )
  }

  /** Removes the items whose keys share a pattern, and returns the patterns. */
  removeItemsWithPattern(): string[] {
    const allItems = this.allItems()
    const patterns = findKeyPatterns(allItems)
    this.remove(patterns.flatMap(({ items }) => items.map((index) => allItems[index]!)))
    return patterns.map(({ pattern }) => pattern)
  }

  result(): ItemsResult {
    const items = this.request.skills.flatMap(({ skill }) =>
      this.items.get(skill.number)!.sort((a, b) => a.difficulty - b.difficulty),
    )
    const incompleteSkills = this.missingItems().map(({ skill }) => skill.number)
    return { items, incompleteSkills }
  }
}
