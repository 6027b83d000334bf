import { setImmediate } from 'node:timers/promises'
import { Bank, type KnownItem } from './bank/bank.ts'
import { checkItem } from './checks.ts'
import { Composer } from './composer.ts'
import { COMPOSED, fingerprint } from './fingerprint.ts'
import { type LeadIns, leadInsFor } from './lead-ins.ts'
import { sameQuestion, sketch } from './near-duplicates.ts'
import type {
  CatalogueToAsk,
  Item,
  ItemsAnswer,
  ItemsRequest,
  Language,
  QuestionWriter,
  SkillToAsk,
  SourceContext,
} from './questions.ts'
import { Seeded } from './seeded.ts'

/** Needs no network: items of the bank, then items composed from the catalogue. Writes English and Hindi. */
export class BuiltInWriter implements QuestionWriter {
  readonly kind = 'built-in'
  private readonly catalogue: CatalogueToAsk
  private bank: Promise<Bank> | undefined

  constructor(catalogue: CatalogueToAsk) {
    this.catalogue = catalogue
  }

  async writeItems(request: ItemsRequest): Promise<ItemsAnswer> {
    const bank = await this.openBank()
    const items: Item[] = []
    const short: number[] = []
    const set = new QuestionSet()
    for (const { skill, count, avoid = [] } of request.skills) {
      request.signal?.throwIfAborted()
      const job = new SkillJob(this.catalogue, bank.itemsOf(skill.number), skill, request, set)
      const written = job.write(count, avoid)
      if (written.length < count) short.push(skill.number)
      items.push(...written)
      // Composing takes milliseconds a skill; who else waits goes first.
      if (request.skills.length > 1) await setImmediate()
    }
    return { items, short }
  }

  async translate(): Promise<undefined> {
    return undefined
  }

  private openBank(): Promise<Bank> {
    this.bank ??= Bank.read().catch((error) => {
      this.bank = undefined
      throw error
    })
    return this.bank
  }
}

/** What one request has asked already. */
class QuestionSet {
  private readonly asked: ReturnType<typeof sketch>[] = []

  /** Takes a question unless one like it was taken before. */
  take(stem: string, options: readonly string[]): boolean {
    const own = sketch({ stem, options })
    if (this.asked.some((other) => sameQuestion(own, other))) return false
    this.asked.push(own)
    return true
  }
}

/** The order in which difficulties are wanted: of three items one of each. */
const MIX = [2, 1, 3] as const

/** The items of one skill. */
class SkillJob {
  private readonly catalogue: CatalogueToAsk
  private readonly bankItems: KnownItem[]
  private readonly skill: SkillToAsk
  private readonly context: SourceContext
  private readonly language: Language
  private readonly chance: Seeded
  private readonly set: QuestionSet
  private readonly leadInsKnown = new Map<Language, LeadIns>()
  private turns = 0

  constructor(
    catalogue: CatalogueToAsk,
    bankItems: KnownItem[],
    skill: SkillToAsk,
    { context, language, seed }: ItemsRequest,
    set: QuestionSet,
  ) {
    this.catalogue = catalogue
    this.skill = skill
    this.context = context
    this.set = set
    this.language = language === 'hi' ? 'hi' : 'en'
    this.chance = new Seeded(`${seed} ${skill.number}`)
    this.bankItems = this.chance.shuffled(bankItems)
  }

  write(count: number, avoid: string[]): Item[] {
    const seen = new Map(avoid.map((print, index) => [print, index]))
    const written: Item[] = []
    const taken = new Set<string>()
    const repeats: { item: Item; lastSeen: number }[] = []
    /** What would betray its key beside the person's own work, and therefore leaves some of that out. */
    const distant: Finished[] = []
    /** The same answer among other wrong ones: for skills of which the catalogue knows next to nothing. */
    const twins: Item[] = []
    const offer = (finished: Finished | undefined): boolean => {
      if (!finished) return false
      const { item, distance } = finished
      const print = fingerprint(item)
      if (taken.has(print)) {
        twins.push(item)
        return false
      }
      const lastSeen = seen.get(print)
      if (lastSeen !== undefined) {
        repeats.push({ item, lastSeen })
        return false
      }
      if (distance > 0) {
        distant.push(finished)
        return false
      }
      taken.add(print)
      written.push(item)
      return true
    }
    const fill = (items: Item[]) => {
      for (const item of items) {
        if (written.length === count) return
        const print = fingerprint(item)
        if (taken.has(print)) continue
        taken.add(print)
        written.push(item)
      }
    }

    const waiting = [...this.bankItems]
    for (let place = 0; written.length < count && waiting.length > 0; ) {
      const wanted = MIX[place % MIX.length]
      const at = waiting.findIndex(({ difficulty }) => difficulty === wanted)
      const [item] = waiting.splice(Math.max(at, 0), 1)
      if (offer(this.fromBank(item!))) place++
    }
    if (written.length < count) {
      for (const item of this.composed()) {
        offer(item)
        if (written.length === count) break
      }
    }
    fill(distant.sort((a, b) => a.distance - b.distance).map(({ item }) => item))
    fill(repeats.sort((a, b) => a.lastSeen - b.lastSeen).map(({ item }) => item))
    written.push(...twins.slice(0, count - written.length))
    return written.sort((a, b) => a.difficulty - b.difficulty)
  }

  private fromBank({ id, kind, difficulty, wordings }: KnownItem): Finished | undefined {
    const language = wordings.has(this.language) ? this.language : 'en'
    const { stem, options, key } = wordings.get(language)!
    const item = { skill: this.skill.number, kind, difficulty, bankId: id, language }
    return this.finish(item, stem, options, key)
  }

  private *composed(): Generator<Finished | undefined> {
    const { language } = this
    const leaned = this.leadIns(language).length > 0
    const composer = new Composer(this.catalogue, this.skill, this.chance)
    for (const { kind, difficulty, stem, key, wrong } of composer.drafts(language, leaned)) {
      const item = { skill: this.skill.number, kind: `${COMPOSED}${kind}`, difficulty, language }
      yield this.finish(item, stem, [key, ...wrong], 0)
    }
  }

  /** Puts the lead-in before the stem, checks the whole, shuffles the options. Undefined: it did not pass. */
  private finish(
    head: Omit<Item, 'stem' | 'options' | 'key'>,
    stem: string,
    options: readonly string[],
    key: number,
  ): Finished | undefined {
    const leadIns = this.leadIns(head.language)
    const passes = (about: string) => checkItem({ stem, options, key, language: head.language, about }).length === 0
    const leadIn = leadIns.length > 0 ? leadIns.find(({ text }) => passes(text)) : NO_LEAD_IN
    if (!leadIn || (leadIn === NO_LEAD_IN && !passes(this.skill.name))) return undefined
    if (!this.set.take(stem, options)) return undefined
    const order = this.chance.shuffled([0, 1, 2, 3])
    const item: Item = {
      ...head,
      stem: leadIn.text ? `${leadIn.text} ${stem}` : stem,
      options: order.map((place) => options[place]!) as Item['options'],
      key: order.indexOf(key) as Item['key'],
    }
    return { item, distance: leadIn.distance }
  }

  /** Those that say which work it was come first, another one of them each time. */
  private leadIns(language: Language): ChosenLeadIn[] {
    let known = this.leadInsKnown.get(language)
    if (!known) {
      known = leadInsFor(this.skill.name, this.context, language, this.chance)
      this.leadInsKnown.set(language, known)
    }
    const turn = this.turns++ % Math.max(1, known.best.length)
    const at = (distance: number) => (text: string) => ({ text, distance })
    return [
      ...[...known.best.slice(turn), ...known.best.slice(0, turn)].map(at(0)),
      ...known.plainer.map(at(1)),
      ...known.bare.map(at(2)),
    ]
  }
}

/** How far the lead-in is from the person's own work: 0 where it says which work it was. */
interface ChosenLeadIn {
  text: string
  distance: number
}

const NO_LEAD_IN: ChosenLeadIn = { text: '', distance: 0 }

interface Finished {
  item: Item
  distance: number
}
