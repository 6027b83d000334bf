import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { AiWriter } from './ai/writer.ts'
import { BuiltInWriter } from './built-in-writer.ts'
import type { AiSettings, QuestionWriter, WriterCatalogue } from './questions.ts'

interface WriterDeps {
  catalogue: WriterCatalogue
  clock: Clock
  log: Log
}

/** Returns the AI writer if an AI endpoint is configured, else the built-in one. Neither falls back to the other. */
export function openWriter(ai: AiSettings | undefined, { catalogue, clock, log }: WriterDeps): QuestionWriter {
  return ai ? new AiWriter(ai, { clock, log }) : new BuiltInWriter(catalogue)
}
