import type { Queries } from '../platform/database/database.ts'
import { defineHook } from '../platform/hook.ts'

/** Returns the language in which the student read and accepted the notice; undefined before that. */
export const findStudentLanguage = defineHook<[queries: Queries, verificationId: string], string | undefined>(
  'findStudentLanguage',
).handledBy('privacy')
