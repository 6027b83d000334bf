import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type {
  AiSettings,
  ItemsAnswer,
  ItemsRequest,
  Language,
  QuestionWriter,
  TranslationRequest,
  Translations,
} from '../questions.ts'
import { lengthOf } from '../text.ts'
import { WriterError } from '../writer-error.ts'
import { Batch, LINK } from './batch.ts'
import { AiEndpoint, type Completion, InvalidAnswer, type Message } from './endpoint.ts'
import {
  asData,
  itemsData,
  itemsInstructions,
  type SkillInPrompt,
  translationInstructions,
  translationSchema,
  type WrittenItem,
  writtenItems,
} from './instructions.ts'

/** Everything that one request does, retries and repairs included. */
const BUDGET = 85_000
/** Small calls side by side end sooner than one large one. */
const ITEMS_A_CALL = 6
const LANGUAGES_A_CALL = 4
const CALLS_AT_ONCE = 4
/** Room for an item's text; other scripts take several tokens a letter. */
const TOKENS_AN_ITEM = { en: 350, other: 1000 }
const MOST_TOKENS = 16_000

export interface AiWriterOptions {
  clock: Clock
  log: Log
  /** Milliseconds for one request in all. */
  budget?: number
}

/** Any OpenAI-compatible endpoint with structured output. What it writes is checked like everything else. */
export class AiWriter implements QuestionWriter {
  readonly kind = 'ai'
  private readonly endpoint: AiEndpoint
  private readonly log: Log
  private readonly budget: number

  constructor(settings: AiSettings, { clock, log, budget = BUDGET }: AiWriterOptions) {
    this.endpoint = new AiEndpoint(settings, clock.now)
    this.log = log
    this.budget = budget
  }

  async writeItems(request: ItemsRequest): Promise<ItemsAnswer> {
    const batch = new Batch(request)
    const calls = inCalls(request.skills.map(({ skill, count }) => ({ skill, count })))
    await this.runAll(calls, request.signal, (skills, signal) => this.writeSome(skills, batch, signal))
    return batch.answer()
  }

  async translate({ texts, from, to, signal }: TranslationRequest): Promise<Translations> {
    const translations: Translations = {}
    const wanted = to.filter((language) => language !== from)
    if (texts.length === 0) return Object.fromEntries(wanted.map((language) => [language, []]))
    const calls = chunks(wanted, LANGUAGES_A_CALL)
    await this.runAll(calls, signal, (languages, within) =>
      this.translateSome(texts, from, languages, translations, within),
    )
    return translations
  }

  /** One call, and where something is missing or wrong one more that says what. */
  private async writeSome(skills: SkillInPrompt[], batch: Batch, signal: AbortSignal): Promise<void> {
    const { context, language } = batch.request
    const messages: Message[] = [
      { role: 'system', content: itemsInstructions(language) },
      { role: 'user', content: itemsData(skills, context, batch.kinds()) },
    ]
    const items = (wanted: SkillInPrompt[]) => wanted.reduce((sum, { count }) => sum + count, 0)
    const perItem = language === 'en' ? TOKENS_AN_ITEM.en : TOKENS_AN_ITEM.other
    const ask = (wanted: SkillInPrompt[], conversation: Message[]): Completion => ({
      messages: conversation,
      schema: writtenItems,
      name: 'items',
      maxTokens: Math.min(MOST_TOKENS, 500 + items(wanted) * perItem),
      signal,
    })
    const numbers = new Set(skills.map(({ skill }) => skill.number))
    const take = (answer: unknown) => {
      const { items: written } = answer as { items: WrittenItem[] }
      return written.flatMap((item) => (numbers.has(item.skill) ? batch.take(item) : [`unknown skill ${item.skill}`]))
    }
    let complaint: string
    try {
      const findings = take(await this.endpoint.complete(ask(skills, messages)))
      if (batch.missing(skills).length === 0) return
      complaint = `Some items were not taken:\n${findings.slice(0, 12).join('\n') || 'too few were written'}`
    } catch (error) {
      if (!(error instanceof InvalidAnswer)) throw error
      complaint = `Your answer was not taken: ${error.message}`
    }
    const missing = batch.missing(skills)
    const again = `${complaint}\nWrite new items for what is missing, by the same rules, unlike those you wrote.`
    this.log.info({ missing: items(missing) }, 'the AI writer is asked again')
    try {
      take(
        await this.endpoint.complete(
          ask(missing, [
            messages[0]!,
            { role: 'user', content: `${itemsData(missing, context, batch.kinds())}\n${again}` },
          ]),
        ),
      )
    } catch (error) {
      if (!(error instanceof InvalidAnswer)) throw error
      if (batch.missing(skills).length === skills.length) throw invalid(error)
    }
  }

  private async translateSome(
    texts: string[],
    from: Language,
    languages: Language[],
    into: Translations,
    signal: AbortSignal,
  ): Promise<void> {
    let complaint = ''
    let fault: InvalidAnswer | undefined
    const missing = () => languages.filter((language) => !into[language])
    for (let round = 1; round <= 2 && missing().length > 0; round++) {
      const to = missing()
      try {
        const answer = (await this.endpoint.complete({
          messages: [
            { role: 'system', content: translationInstructions(from, to) },
            { role: 'user', content: `${asData({ texts })}${complaint}` },
          ],
          schema: translationSchema(to),
          name: 'translations',
          maxTokens: Math.min(
            MOST_TOKENS,
            300 + to.length * texts.reduce((sum, text) => sum + 60 + text.length * 3, 0),
          ),
          signal,
        })) as Record<string, string[]>
        const wrong: string[] = []
        for (const language of to) {
          const given = answer[language]!.map((text) => text.trim())
          const why = faultOfTranslation(texts, given)
          if (why) wrong.push(`${language}: ${why}`)
          else into[language] = given
        }
        fault = new InvalidAnswer(wrong.join('; '))
      } catch (error) {
        if (!(error instanceof InvalidAnswer)) throw error
        fault = error
      }
      complaint = `\nAn earlier answer was not taken: ${fault.message}`
    }
    if (missing().length === languages.length && languages.length > 0) throw invalid(fault!)
  }

  /**
   * Runs the calls, a few at once, within the budget. What one call fails to bring is short; the fault is thrown where none
   * brought anything.
   */
  private async runAll<T>(
    calls: T[],
    caller: AbortSignal | undefined,
    run: (call: T, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    caller?.throwIfAborted()
    const late = AbortSignal.timeout(this.budget)
    const signal = caller ? AbortSignal.any([caller, late]) : late
    const faults: unknown[] = []
    const waiting = [...calls]
    const work = async () => {
      for (let call = waiting.shift(); call !== undefined; call = waiting.shift()) {
        await run(call, signal).catch((error: unknown) => faults.push(error))
      }
    }
    await Promise.all(Array.from({ length: CALLS_AT_ONCE }, work))
    if (caller?.aborted) throw new WriterError('aborted', 'the request was given up', { cause: caller.reason })
    for (const error of faults) this.log.warn({ err: error }, 'a call to the AI endpoint failed')
    if (faults.length < calls.length || calls.length === 0) return
    if (late.aborted) throw new WriterError('timeout', `the AI endpoint took longer than ${this.budget / 1000} s`)
    throw faults[0] instanceof WriterError
      ? faults[0]
      : new WriterError('unavailable', 'the AI endpoint failed', { cause: faults[0] })
  }
}

function invalid(error: InvalidAnswer): WriterError {
  return new WriterError('invalid', `the AI endpoint's answer cannot be used: ${error.message}`)
}

/** Skills together up to a few items a call; one skill's items stay in one call, so that they differ. */
function inCalls(skills: SkillInPrompt[]): SkillInPrompt[][] {
  const calls: SkillInPrompt[][] = []
  let room = 0
  for (const skill of skills) {
    if (skill.count <= 0) continue
    if (skill.count > room || calls.length === 0) {
      calls.push([])
      room = ITEMS_A_CALL
    }
    calls.at(-1)!.push(skill)
    room -= skill.count
  }
  return calls
}

function chunks<T>(list: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  )
}

function faultOfTranslation(texts: string[], given: string[]): string | undefined {
  if (given.length !== texts.length) return `${given.length} texts for ${texts.length}`
  for (const [index, text] of texts.entries()) {
    const translation = given[index]!
    if (!translation) return `text ${index + 1} is empty`
    if (lengthOf(translation) > lengthOf(text) * 3 + 60)
      return `text ${index + 1} is far longer than what it translates`
    if (/[\p{Cc}\p{Co}\p{Cn}]/u.test(translation.replace(/\n/g, ''))) return `text ${index + 1} has control characters`
    if (slots(text) !== slots(translation)) return `text ${index + 1} changed what stands in braces`
    if (LINK.test(translation) && !LINK.test(text)) return `text ${index + 1} has a link that was not there`
  }
  return undefined
}

const slots = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort().join()
