import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { AiWriter } from './ai/writer.ts'
import type { AiSettings, QuestionWriter } from './questions.ts'

interface WriterDeps {
  clock: Clock
  log: Log
}

/** Used without an AI endpoint: all questions come from banks, and nothing is translated. */
const builtInWriter: QuestionWriter = { kind: 'built-in', translate: async () => undefined }

/** Returns the AI writer if an AI endpoint is configured, else the built-in one. Neither falls back to the other. */
export function openWriter(ai: AiSettings | undefined, { clock, log }: WriterDeps): QuestionWriter {
  return ai ? new AiWriter(ai, { clock, log }) : builtInWriter
}
