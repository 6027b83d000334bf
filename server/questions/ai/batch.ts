import { KINDS } from '../bank/format.ts'
import { checkItem } from '../checks.ts'
import { fingerprint } from '../fingerprint.ts'
import { hasSource } from '../lead-ins.ts'
import { sameQuestion, sketch } from '../near-duplicates.ts'
import type { Item, ItemsAnswer, ItemsRequest } from '../questions.ts'
import { Seeded } from '../seeded.ts'
import { fold } from '../text.ts'
import type { SkillInPrompt, WrittenItem } from './instructions.ts'

/** What has no business in a question or a translation: it would lead people somewhere. */
export const LINK = /https?:\/\/|\bwww\.|[\w.+-]+@[\w-]+\.\w/i

/** The items of one request as they come in, from several calls. */
export class Batch {
  readonly request: ItemsRequest
  private readonly chance: Seeded
  private readonly sketches: ReturnType<typeof sketch>[] = []
  private readonly items = new Map<number, Item[]>()
  private readonly seen = new Map<number, Set<string>>()

  constructor(request: ItemsRequest) {
    this.request = request
    this.chance = new Seeded(request.seed)
    for (const { skill, avoid } of request.skills) {
      this.items.set(skill.number, [])
      this.seen.set(skill.number, new Set(avoid))
    }
  }

  /** Another order for another seed, so that two attempts do not begin alike. */
  kinds(): string[] {
    return this.chance.shuffled(KINDS)
  }

  /** Takes an item that passes, and tells what is wrong with one that does not. */
  take({ skill: number, kind, difficulty, stem, right, wrong_1, wrong_2, wrong_3 }: WrittenItem): string[] {
    const { skill, count } = this.request.skills.find((asked) => asked.skill.number === number)!
    const items = this.items.get(number)!
    if (items.length >= count) return []
    const { language } = this.request
    const asked = this.named(stem.trim(), skill.name)
    const options = [right, wrong_1, wrong_2, wrong_3].map((option) => option.trim())
    const told = (finding: string) => [`- ${finding}; stem: ${JSON.stringify(stem.slice(0, 120))}`]
    const [finding] = checkItem({ stem: asked, options, key: 0, language, about: skill.name })
    if (finding) return told(`${finding.check}: ${finding.message.slice(0, 200)}`)
    if (LINK.test(`${asked} ${options.join(' ')}`)) return told('a link or an address')
    const own = sketch({ stem: asked, options })
    if (this.sketches.some((other) => sameQuestion(own, other))) return told('asks the same as another item')
    const order = this.chance.shuffled([0, 1, 2, 3])
    const item: Item = {
      skill: number,
      stem: asked,
      options: order.map((place) => options[place]!) as Item['options'],
      key: order.indexOf(0) as Item['key'],
      difficulty: difficulty as Item['difficulty'],
      kind,
      language,
    }
    if (this.seen.get(number)!.has(fingerprint(item))) return told('the person has seen it')
    this.sketches.push(own)
    items.push(item)
    return []
  }

  /** The skill's name stands in the question, also where the model left it out. */
  private named(stem: string, name: string): string {
    return !hasSource(this.request.context) || fold(stem).includes(fold(name)) ? stem : `${name}: ${stem}`
  }

  missing(skills: SkillInPrompt[]): SkillInPrompt[] {
    return skills.flatMap(({ skill, count }) => {
      const left = count - this.items.get(skill.number)!.length
      return left > 0 ? [{ skill, count: left }] : []
    })
  }

  answer(): ItemsAnswer {
    const items = this.request.skills.flatMap(({ skill }) =>
      this.items.get(skill.number)!.sort((a, b) => a.difficulty - b.difficulty),
    )
    const short = this.missing(this.request.skills).map(({ skill }) => skill.number)
    return { items, short }
  }
}
