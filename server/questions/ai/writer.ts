import { setTimeout } from 'node:timers/promises'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Language } from '../../platform/text/languages.ts'
import type {
  AiSettings,
  ConfirmationRequest,
  Item,
  ItemsRequest,
  ItemsResult,
  ItemWriter,
  SourceContext,
  TranslationRequest,
  Translations,
} from '../questions.ts'
import { visibleLength } from '../text.ts'
import { WriterError } from '../writer-error.ts'
import { ItemBatch, LINK_PATTERN, rejectedItem } from './batch.ts'
import {
  AiEndpoint,
  type CompletionRequest,
  InvalidResponseError,
  invalidResponseError,
  type PauseFunction,
} from './endpoint.ts'
import {
  asData,
  blindCheckInstructions,
  blindGuesses,
  itemsData,
  itemsInstructions,
  type RejectedItem,
  type RepairReasons,
  type SkillInPrompt,
  translationInstructions,
  translationSchema,
  type WrittenItem,
  writtenItems,
} from './instructions.ts'
import { findConfirmedItems } from './verification.ts'

/** Time limit of one request to the writer, including retries and repair requests. */
const BUDGET_MS = 85_000
/** Several small concurrent calls finish sooner than one large call. */
const ITEMS_PER_CALL = 6
const LANGUAGES_PER_CALL = 4
/** One per skill of the largest assessment, so that each of its skills is written, verified and repaired within the time limit. */
const MAX_CONCURRENT_CALLS = 6
/** Token budget per item; non-Latin scripts need several tokens per character. */
const TOKENS_PER_ITEM = { en: 350, other: 1000 }
/** Token budget of a call for items, in addition to the budget per item. */
const ITEMS_OVERHEAD_TOKENS = 500
/** Token budget of a call for translations: per call, and per text and per character in each language. */
const TRANSLATION_OVERHEAD_TOKENS = 300
const TOKENS_PER_TRANSLATED_TEXT = 60
const TOKENS_PER_TRANSLATED_CHARACTER = 3
const MAX_TOKENS = 16_000
const TOKENS_PER_GUESS = 20
/** Guesses are above chance if as many correct ones have at most this probability when they are random. */
const MAX_CHANCE_PROBABILITY = 0.02
/** A call for items, and up to two repair requests; only one of them after invalid responses. */
const MAX_WRITE_ATTEMPTS = 3
const MAX_INVALID_RESPONSES = 2
/** Maximum number of rejected items that a repair request lists. */
const MAX_LISTED_ITEMS = 12
const TOO_FEW_ITEMS = 'there are too few items'
const NOT_CONFIRMED = 'an independent check could not confirm that this option is right and the others are wrong'

const wait: PauseFunction = (delayMs, signal) => setTimeout(delayMs, undefined, { signal })

export interface AiWriterOptions {
  clock: Clock
  log: Log
  /** Total time limit per request in milliseconds. */
  budgetMs?: number
  /** Waits before a retry. */
  pause?: PauseFunction
}

/** The time limit of a request and the signal of its caller; `signal` is aborted by either. */
interface Deadline {
  callerSignal: AbortSignal | undefined
  timeout: AbortSignal
  signal: AbortSignal
}

/** Writes items with any OpenAI-compatible endpoint. Its items pass the same checks as all others. */
export class AiWriter implements ItemWriter {
  readonly kind = 'ai' as const
  private readonly endpoint: AiEndpoint
  private readonly log: Log
  private readonly budgetMs: number
  private readonly blindCheck: boolean

  constructor(settings: AiSettings, { clock, log, budgetMs: budget = BUDGET_MS, pause = wait }: AiWriterOptions) {
    this.endpoint = new AiEndpoint(settings, clock.now, pause)
    this.log = log
    this.budgetMs = budget
    this.blindCheck = settings.blindCheck ?? false
  }

  async writeItems(request: ItemsRequest): Promise<ItemsResult> {
    const batch = new ItemBatch(request)
    const deadline = this.startDeadline(request.signal)
    const calls = groupIntoCalls(request.skills, () => batch.kinds())
    await this.runAll(calls, deadline, (call, signal) => this.writeSome(call, batch, request.context, signal))
    await this.replaceRevealingItems(batch, deadline)
    return batch.result()
  }

  /**
   * Replaces the items whose keys can be found without the questions: by a pattern such as a word that the text of a person made the model
   * add to every key, or by a model that sees only the options. The replacements are written without that text. Items that still fail
   * are left out.
   */
  private async replaceRevealingItems(batch: ItemBatch, deadline: Deadline): Promise<void> {
    if (!(await this.removeRevealingItems(batch, deadline))) return
    const calls = groupIntoCalls(batch.missingItems(), () => batch.kinds())
    await this.runAll(calls, deadline, (call, signal) => this.writeSome(call, batch, {}, signal))
    await this.removeRevealingItems(batch, deadline)
  }

  /** Removes the items whose keys can be found without the questions; returns whether there were any. */
  private async removeRevealingItems(batch: ItemBatch, deadline: Deadline): Promise<boolean> {
    const patterns = batch.removeItemsWithPattern()
    // The patterns are not logged: with the questions, they reveal the keys.
    if (patterns.length > 0)
      this.log.warn(
        { patterns: patterns.length },
        'correct options of AI questions share a pattern, discarding these questions',
      )
    const items = batch.allItems()
    if (!this.blindCheck || items.length === 0) return patterns.length > 0
    let correctCount = 0
    await this.runAll([items], deadline, async (all, signal) => {
      correctCount = await this.countBlindGuesses(all, signal)
    })
    if (!isAboveChance(correctCount, items.length)) return patterns.length > 0
    this.log.warn(
      { correct: correctCount, items: items.length },
      'a model finds the keys of AI questions from the options alone, dropping these',
    )
    batch.remove(items)
    return true
  }

  /** Asks the model for the keys, with the options and without questions, source or keys; returns how many it finds. */
  private async countBlindGuesses(items: Item[], signal: AbortSignal): Promise<number> {
    const completion: CompletionRequest = {
      messages: [
        { role: 'system', content: blindCheckInstructions() },
        { role: 'user', content: asData({ items: items.map(({ options }) => options) }) },
      ],
      schema: blindGuesses,
      name: 'guesses',
      maxTokens: ITEMS_OVERHEAD_TOKENS + items.length * TOKENS_PER_GUESS,
      signal,
    }
    try {
      const { guesses } = (await this.endpoint.complete(completion)) as { guesses: number[] }
      return items.filter(({ key }, index) => guesses[index] === key + 1).length
    } catch (error) {
      throw error instanceof InvalidResponseError ? invalidResponseError(error) : error
    }
  }

  async confirmKeys({ items, skill, seed, signal: callerSignal }: ConfirmationRequest): Promise<Item[]> {
    const confirmed = new Set<Item>()
    const deadline = this.startDeadline(callerSignal)
    await this.runAll(chunks(items, ITEMS_PER_CALL), deadline, async (someItems, signal) => {
      const verification = { items: someItems, skills: [skill], context: {}, seed, signal }
      for (const item of await findConfirmedItems(this.endpoint, verification)) confirmed.add(item)
    })
    return items.filter((item) => confirmed.has(item))
  }

  async translate({ texts, from, to, signal }: TranslationRequest): Promise<Translations> {
    const translations: Translations = {}
    const languages = to.filter((language) => language !== from)
    if (texts.length === 0) return Object.fromEntries(languages.map((language) => [language, []]))
    const calls = chunks(languages, LANGUAGES_PER_CALL)
    await this.runAll(calls, this.startDeadline(signal), (callLanguages, callSignal) =>
      this.translateSome(texts, from, callLanguages, translations, callSignal),
    )
    return translations
  }

  /**
   * Requests the items of a call and verifies them. Sends repair requests while items are missing: because of an invalid response, of failed
   * checks, or because the verification did not confirm their keys.
   */
  private async writeSome(
    call: WriteCall,
    batch: ItemBatch,
    context: SourceContext,
    signal: AbortSignal,
  ): Promise<void> {
    let missingSkills = call.skills
    let repairReasons: RepairReasons | undefined
    let invalidCount = 0
    for (let attempt = 1; attempt <= MAX_WRITE_ATTEMPTS && missingSkills.length > 0; attempt++) {
      if (repairReasons)
        this.log.info({ missing: countItems(missingSkills) }, 'AI response incomplete, sending a repair request')
      try {
        const { language } = batch.request
        const data = itemsData(missingSkills, context, call.kinds, repairReasons)
        const written = await this.requestItems(missingSkills, language, data, repairReasons !== undefined, signal)
        const { confirmed, rejected } = await this.addVerifiedItems(written, missingSkills, batch, signal)
        missingSkills = withoutItems(missingSkills, confirmed)
        repairReasons =
          rejected.length > 0 ? { rejected: rejected.slice(0, MAX_LISTED_ITEMS) } : { error: TOO_FEW_ITEMS }
      } catch (error) {
        if (!(error instanceof InvalidResponseError)) throw error
        if (++invalidCount === MAX_INVALID_RESPONSES) {
          if (countItems(missingSkills) === countItems(call.skills)) throw invalidResponseError(error)
          return
        }
        repairReasons = { error: error.message }
      }
    }
  }

  private async requestItems(
    skills: SkillInPrompt[],
    language: Language,
    data: string,
    isRepair: boolean,
    signal: AbortSignal,
  ): Promise<WrittenItem[]> {
    const tokensPerItem = language === 'en' ? TOKENS_PER_ITEM.en : TOKENS_PER_ITEM.other
    const response = await this.endpoint.complete({
      messages: [
        { role: 'system', content: itemsInstructions(language, isRepair) },
        { role: 'user', content: data },
      ],
      schema: writtenItems,
      name: 'items',
      maxTokens: Math.min(MAX_TOKENS, ITEMS_OVERHEAD_TOKENS + countItems(skills) * tokensPerItem),
      signal,
    })
    return (response as { items: WrittenItem[] }).items
  }

  /** Adds the items that pass the checks and whose keys the verification confirms. Returns these, and the other items with the reasons. */
  private async addVerifiedItems(
    written: WrittenItem[],
    skills: SkillInPrompt[],
    batch: ItemBatch,
    signal: AbortSignal,
  ): Promise<{ confirmed: Item[]; rejected: RejectedItem[] }> {
    const missingCounts = new Map(skills.map(({ skill, count }) => [skill.number, count]))
    const items: Item[] = []
    const rejected: RejectedItem[] = []
    for (const writtenItem of written) {
      const missingCount = missingCounts.get(writtenItem.skill)
      if (missingCount === undefined)
        rejected.push(rejectedItem(`skill ${writtenItem.skill} is not in the data`, writtenItem.stem))
      if (!missingCount) continue
      const result = batch.add(writtenItem)
      if (result.rejected) rejected.push(result.rejected)
      if (!result.item) continue
      items.push(result.item)
      missingCounts.set(writtenItem.skill, missingCount - 1)
    }
    let confirmed: Item[] = []
    try {
      const { context, seed } = batch.request
      const requestedSkills = skills.map(({ skill }) => skill)
      const verification = { items, skills: requestedSkills, context, seed, signal }
      confirmed = await findConfirmedItems(this.endpoint, verification)
      batch.confirm(confirmed)
    } finally {
      batch.discardPending(items) // also if the verification failed: an item that was not verified is not used
    }
    const unconfirmed = items.filter((item) => !confirmed.includes(item))
    if (unconfirmed.length > 0)
      this.log.info(
        { items: items.length, unconfirmed: unconfirmed.length },
        'verification did not confirm the keys of AI questions, dropping these',
      )
    rejected.push(...unconfirmed.map(({ stem }) => rejectedItem(NOT_CONFIRMED, stem)))
    return { confirmed, rejected }
  }

  /** Requests translations into some of the languages, and sends one repair request if any are invalid. Adds them to `into`. */
  private async translateSome(
    texts: string[],
    from: Language,
    languages: Language[],
    into: Translations,
    signal: AbortSignal,
  ): Promise<void> {
    let lastError: InvalidResponseError | undefined
    const tokensPerLanguage = texts.reduce(
      (sum, text) => sum + TOKENS_PER_TRANSLATED_TEXT + text.length * TOKENS_PER_TRANSLATED_CHARACTER,
      0,
    )
    const missingLanguages = () => languages.filter((language) => !into[language])
    for (let round = 1; round <= 2 && missingLanguages().length > 0; round++) {
      const targetLanguages = missingLanguages()
      try {
        const response = (await this.endpoint.complete({
          messages: [
            { role: 'system', content: translationInstructions(from, targetLanguages, lastError !== undefined) },
            { role: 'user', content: asData({ texts, ...(lastError ? { error: lastError.message } : {}) }) },
          ],
          schema: translationSchema(targetLanguages),
          name: 'translations',
          maxTokens: Math.min(MAX_TOKENS, TRANSLATION_OVERHEAD_TOKENS + targetLanguages.length * tokensPerLanguage),
          signal,
        })) as Record<string, string[]>
        const translationErrors: string[] = []
        for (const language of targetLanguages) {
          const translatedTexts = response[language]!.map((text) => text.trim())
          const errorText = translationError(texts, translatedTexts)
          if (errorText) translationErrors.push(`${language}: ${errorText}`)
          else into[language] = translatedTexts
        }
        lastError = new InvalidResponseError(translationErrors.join('; '))
      } catch (error) {
        if (!(error instanceof InvalidResponseError)) throw error
        lastError = error
      }
    }
    if (missingLanguages().length === languages.length && languages.length > 0) throw invalidResponseError(lastError!)
  }

  /** Starts the time limit of a request, which all of its calls share. */
  private startDeadline(callerSignal: AbortSignal | undefined): Deadline {
    callerSignal?.throwIfAborted()
    const timeout = AbortSignal.timeout(this.budgetMs)
    return { callerSignal, timeout, signal: callerSignal ? AbortSignal.any([callerSignal, timeout]) : timeout }
  }

  /**
   * Runs the calls with limited concurrency within the time limit. Items of failed calls are reported as missing; the error is
   * thrown only if no call succeeded.
   */
  private async runAll<T>(
    calls: T[],
    { callerSignal, timeout, signal }: Deadline,
    run: (call: T, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const errors: unknown[] = []
    const queue = [...calls]
    const runQueued = async () => {
      for (let call = queue.shift(); call !== undefined; call = queue.shift()) {
        await run(call, signal).catch((error: unknown) => errors.push(error))
      }
    }
    await Promise.all(Array.from({ length: MAX_CONCURRENT_CALLS }, runQueued))
    if (callerSignal?.aborted)
      throw new WriterError('aborted', 'the request was aborted', { cause: callerSignal.reason })
    for (const error of errors) this.log.warn({ err: error }, 'AI endpoint call failed, continuing without its result')
    if (errors.length < calls.length || calls.length === 0) return
    if (timeout.aborted) throw new WriterError('timeout', `the AI endpoint took longer than ${this.budgetMs / 1000} s`)
    throw errors[0] instanceof WriterError
      ? errors[0]
      : new WriterError('unavailable', 'the AI endpoint failed', { cause: errors[0] })
  }
}

const countItems = (skills: SkillInPrompt[]) => skills.reduce((sum, { count }) => sum + count, 0)

/** Returns whether random guesses among four options are unlikely to be correct this often. */
function isAboveChance(correctCount: number, itemCount: number): boolean {
  let probability = 0
  let combinations = 1 // of `correct` items among all
  for (let correct = 0; correct <= itemCount; correct++) {
    if (correct >= correctCount) probability += combinations * 0.25 ** correct * 0.75 ** (itemCount - correct)
    combinations = (combinations * (itemCount - correct)) / (correct + 1)
  }
  return probability <= MAX_CHANCE_PROBABILITY
}

interface WriteCall {
  skills: SkillInPrompt[]
  /** Kinds of items, in the order of their use. */
  kinds: string[]
}

/**
 * Groups skills into calls of a few items. The items of a skill stay in one call, so that they differ; if they are too many, each of its
 * calls gets other kinds of items.
 */
function groupIntoCalls(skills: SkillInPrompt[], shuffledKinds: () => string[]): WriteCall[] {
  const calls: WriteCall[] = []
  let freeItemCount = 0
  for (const { skill, count } of skills) {
    if (count <= 0) continue
    const partCount = Math.ceil(count / ITEMS_PER_CALL)
    if (partCount > 1) {
      const kinds = shuffledKinds()
      const kindGroups = Math.min(partCount, kinds.length)
      for (let part = 0; part < partCount; part++)
        calls.push({
          skills: [{ skill, count: Math.floor((count + part) / partCount) }],
          kinds: kinds.filter((_, index) => index % kindGroups === part % kindGroups),
        })
      freeItemCount = 0
      continue
    }
    if (count > freeItemCount) {
      calls.push({ skills: [], kinds: shuffledKinds() })
      freeItemCount = ITEMS_PER_CALL
    }
    calls.at(-1)!.skills.push({ skill, count })
    freeItemCount -= count
  }
  return calls
}

/** Returns the skills with the numbers of items that are still missing after these. */
function withoutItems(skills: SkillInPrompt[], items: Item[]): SkillInPrompt[] {
  return skills
    .map(({ skill, count }) => ({ skill, count: count - items.filter((item) => item.skill === skill.number).length }))
    .filter(({ count }) => count > 0)
}

function chunks<T>(list: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  )
}

/** A translation can be three times as long as its text, and some characters longer, because very short texts can grow more. */
const MAX_TRANSLATION_LENGTH_RATIO = 3
const MAX_EXTRA_TRANSLATION_LENGTH = 60

/** Returns the first error of the translations; undefined if they are valid. */
function translationError(texts: string[], translated: string[]): string | undefined {
  if (translated.length !== texts.length) return `got ${translated.length} texts, expected ${texts.length}`
  for (const [index, text] of texts.entries()) {
    const translation = translated[index]!
    if (!translation) return `text ${index + 1} is empty`
    const maxLength = visibleLength(text) * MAX_TRANSLATION_LENGTH_RATIO + MAX_EXTRA_TRANSLATION_LENGTH
    if (visibleLength(translation) > maxLength) return `text ${index + 1} is far longer than the original`
    if (/[\p{Cc}\p{Co}\p{Cn}]/u.test(translation.replace(/\n/g, '')))
      return `text ${index + 1} contains control characters`
    if (placeholdersIn(text) !== placeholdersIn(translation))
      return `text ${index + 1} has different {placeholders} from the original`
    if (LINK_PATTERN.test(translation) && !LINK_PATTERN.test(text))
      return `text ${index + 1} has a link that is not in the original`
  }
  return undefined
}

const placeholdersIn = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort().join()
