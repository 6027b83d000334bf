import { ITEM_KINDS } from '../bank/format.ts'
import { checkItem } from '../checks.ts'
import { fingerprint } from '../fingerprint.ts'
import { findKeyPatterns } from '../key-patterns.ts'
import { hasSource } from '../lead-ins.ts'
import { isSameQuestion, itemWords } from '../near-duplicates.ts'
import type { Item, ItemsRequest, ItemsResult } from '../questions.ts'
import { SeededRandom } from '../seeded.ts'
import { foldText } from '../text.ts'
import type { SkillInPrompt, WrittenItem } from './instructions.ts'

/** Links and addresses, which must not appear in questions or translations. */
export const LINK_PATTERN = /https?:\/\/|\bwww\.|[\w.+-]+@[\w-]+\.\w/i

/** Collects the items of one request from several calls. */
export class ItemBatch {
  readonly request: ItemsRequest
  private readonly random: SeededRandom
  /** The words of each accepted item. */
  private readonly wordsByItem = new Map<Item, ReturnType<typeof itemWords>>()
  /** Accepted items, and fingerprints of items that the person has seen, by skill number. */
  private readonly items = new Map<number, Item[]>()
  private readonly seenFingerprints = new Map<number, Set<string>>()

  constructor(request: ItemsRequest) {
    this.request = request
    this.random = new SeededRandom(request.seed)
    for (const { skill, avoid } of request.skills) {
      this.items.set(skill.number, [])
      this.seenFingerprints.set(skill.number, new Set(avoid))
    }
  }

  /** Returns the kinds of items in random order, so that attempts start with different kinds. */
  kinds(): string[] {
    return this.random.shuffled(ITEM_KINDS)
  }

  /** Adds an item if it passes the checks; otherwise returns the reasons for the rejection. */
  add({ skill: number, kind, difficulty, stem, right, wrong_1, wrong_2, wrong_3 }: WrittenItem): string[] {
    const { skill, count } = this.request.skills.find((requested) => requested.skill.number === number)!
    const items = this.items.get(number)!
    if (items.length >= count) return []
    const { language } = this.request
    const fullStem = this.withSkillName(stem.trim(), skill.name)
    const options = [right, wrong_1, wrong_2, wrong_3].map((option) => option.trim())
    const reject = (finding: string) => [`- ${finding}; stem: ${JSON.stringify(stem.slice(0, 120))}`]
    const [finding] = checkItem({ stem: fullStem, options, key: 0, language, about: skill.name })
    if (finding) return reject(`${finding.check}: ${finding.message.slice(0, 200)}`)
    if (LINK_PATTERN.test(`${fullStem} ${options.join(' ')}`)) return reject('contains a link or an address')
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
    if (this.seenFingerprints.get(number)!.has(fingerprint(item))) return reject('the person has already seen it')
    this.wordsByItem.set(item, newItemWords)
    items.push(item)
    return []
  }

  /** Returns the stem with the skill's name before it, if there is a source and the stem does not contain the name. */
  private withSkillName(stem: string, name: string): string {
    return !hasSource(this.request.context) || foldText(stem).includes(foldText(name)) ? stem : `${name}: ${stem}`
  }

  /** Returns the skills that still need items, with the number of missing items. */
  missingItems(skills: SkillInPrompt[]): SkillInPrompt[] {
    return skills.flatMap(({ skill, count }) => {
      const missingCount = count - this.items.get(skill.number)!.length
      return missingCount > 0 ? [{ skill, count: missingCount }] : []
    })
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
    const incompleteSkills = this.missingItems(this.request.skills).map(({ skill }) => skill.number)
    return { items, incompleteSkills }
  }
}
