import type { Database } from '../platform/database/database.ts'
import { vaultOf } from '../platform/database/database-vault.ts'
import type { Language } from '../platform/text/languages.ts'
import { loadBank } from '../questions/bank/bank.ts'
import type { QuestionWriter, SkillToAsk } from '../questions/questions.ts'
import { MIN_ACTIVE_ITEMS } from '../questions/skill-items.ts'
import { writeAiItems } from './ai-items.ts'
import { findSkillsWithOwnItems, type ItemSet, isMeasurable, listBankItems, listOwnItems } from './item-store.ts'

/** A skill has too few items to be measured. The message is shown to partners. */
export class NotMeasurableError extends Error {}

/** How long the items of the built-in bank are used before their statuses and difficulties are read again. */
const BANK_ITEMS_VALID_MS = 60_000

/** Finds the items about a skill: those of the organisation, those of the AI writer if there is one, or those of the built-in bank. */
export class SkillItemSource {
  readonly #db: Pick<Database, 'queries' | 'transaction'>
  readonly #writer: QuestionWriter
  readonly #now: () => number
  /** Items of the built-in bank by skill number. */
  readonly #bankItems = new Map<number, { items: ItemSet | undefined; expiresAt: number }>()

  constructor(db: Pick<Database, 'queries' | 'transaction'>, writer: QuestionWriter, now: () => number) {
    this.#db = db
    this.#writer = writer
    this.#now = now
  }

  /** Returns the items about a skill. Slow if an AI writer has to write them first. */
  async itemsFor(
    orgId: string,
    skill: SkillToAsk,
    languages: readonly Language[],
    signal: AbortSignal,
    hasOwnItems = true,
  ): Promise<ItemSet> {
    const ownSets = hasOwnItems ? await this.#ownSets(orgId, skill.number) : []
    const privateItems = measurablePrivateItems(ownSets)
    if (privateItems) return privateItems
    if (this.#writer.kind === 'ai') {
      const existing = ownSets.find(({ source }) => source === 'ai')?.items ?? []
      return writeAiItems(
        { db: this.#db, writer: this.#writer, now: this.#now },
        { orgId, skill, existing, languages, signal },
      )
    }
    const bankItems = await this.#itemsOfBank(skill.number)
    if (bankItems && isMeasurable(bankItems)) return bankItems
    throw new NotMeasurableError(
      `${skill.name} cannot be verified: it has ${bankItems?.items.length ?? 0} active questions, and ${MIN_ACTIVE_ITEMS} are needed. Import questions, or configure an AI writer.`,
    )
  }

  /** Returns the items that the organisation imported about a skill, if they are enough to measure it. */
  async privateItemsFor(orgId: string, skillNumber: number): Promise<ItemSet | undefined> {
    return measurablePrivateItems(await this.#ownSets(orgId, skillNumber))
  }

  #ownSets(orgId: string, skillNumber: number): Promise<ItemSet[]> {
    return listOwnItems(this.#db.queries, vaultOf(this.#db.queries), orgId, skillNumber)
  }

  /** Returns the items about several skills. */
  async itemsForAll(
    orgId: string,
    skills: readonly SkillToAsk[],
    languages: readonly Language[],
    signal: AbortSignal,
  ): Promise<ItemSet[]> {
    const ownSkills = await findSkillsWithOwnItems(
      this.#db.queries,
      orgId,
      skills.map(({ number }) => number),
    )
    return Promise.all(
      skills.map((skill) => this.itemsFor(orgId, skill, languages, signal, ownSkills.has(skill.number))),
    )
  }

  async #itemsOfBank(skillNumber: number): Promise<ItemSet | undefined> {
    const cached = this.#bankItems.get(skillNumber)
    if (cached && cached.expiresAt > performance.now()) return cached.items
    const items = await listBankItems(this.#db.queries, await loadBank(), skillNumber)
    this.#bankItems.set(skillNumber, { items, expiresAt: performance.now() + BANK_ITEMS_VALID_MS })
    return items
  }
}

function measurablePrivateItems(ownSets: ItemSet[]): ItemSet | undefined {
  const privateItems = ownSets.find(({ source }) => source === 'private')
  return privateItems && isMeasurable(privateItems) ? privateItems : undefined
}
