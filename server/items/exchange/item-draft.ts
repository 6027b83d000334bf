import { invalid } from '../../api/invalid.ts'
import { type Detail, problem } from '../../api/problem.ts'
import type { AuthorDifficulty } from '../../measurement/model.ts'
import type { Language } from '../../platform/text/languages.ts'
import type { ItemText } from '../../questions/skill-items.ts'

/** An item as it was read from a file, before it is checked. */
export interface ItemDraft {
  /** The file and line, as in error messages. */
  path: string
  /** ID or name of the skill, if the item names one. */
  skill: string | undefined
  /** The ID of the item in the organisation's own system, or its item ID. */
  externalId: string | undefined
  kind: string
  difficulty: AuthorDifficulty
  /** Texts that are missing in the file are empty; each of them has an error. */
  texts: Partial<Record<Language, ItemText>>
  /** Errors of the item that were found when it was read. Its other parts are checked nevertheless, so that all errors are listed. */
  errors: Detail[]
  /** Returns the position of a text, as in error messages. Option 0 is the key. */
  locate(language: Language, part: 'stem' | number): string
  /** Returns the position of another field, as in error messages. */
  locateField(field: 'skill' | 'id' | 'kind'): string
}

/** The kind of items whose author did not give one. */
export const UNSPECIFIED_KIND = 'unspecified'

export const MAX_ITEMS_PER_IMPORT = 2000
export const MIN_DISTRACTORS = 3
export const MAX_DISTRACTORS = 5
export const MAX_EXTERNAL_ID_LENGTH = 100

/** The rest of a file with more errors is not read: it would take long, and the first errors usually have the same cause. */
export const MAX_ERRORS = 200
const MAX_LISTED_ERRORS = 100

/** Collects what is wrong with a file. Messages never repeat text of an item: they are stored and logged in plain text. */
export class Findings {
  /** The noun for the checked input, used in messages. */
  readonly noun: string
  readonly errors: Detail[] = []
  readonly warnings: Detail[] = []

  constructor(noun = 'file') {
    this.noun = noun
  }

  /** Adds an error. Throws a problem with the errors so far if there are many. */
  error(path: string, message: string): void {
    this.errors.push({ path, message })
    if (this.errors.length >= MAX_ERRORS) this.throwIfInvalid()
  }

  /** Throws a problem that lists the errors, if there are any. */
  throwIfInvalid(): void {
    const { errors } = this
    if (errors.length === 1) throw invalid(errors)
    if (errors.length === 0) return
    const count = errors.length >= MAX_ERRORS ? `at least ${MAX_ERRORS}` : errors.length
    const part = errors.length > MAX_LISTED_ERRORS ? `, of which the first ${MAX_LISTED_ERRORS} are listed` : ''
    throw problem('VALIDATION_FAILED', `The ${this.noun} has ${count} errors${part}; see \`details\`.`, {
      details: errors.slice(0, MAX_LISTED_ERRORS),
    })
  }

  /** Reports a file with too many items. They are not read, because that would take long. */
  tooManyItems(path: string): void {
    this.error(path, `the file has more than ${MAX_ITEMS_PER_IMPORT} items; import at most as many at once`)
  }

  warn(path: string, message: string): void {
    this.warnings.push({ path, message })
  }
}
