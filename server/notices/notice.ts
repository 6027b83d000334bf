import { readFileSync } from 'node:fs'
import { getOrganisation } from '../access/organisations.ts'
import type { Queries } from '../platform/database/database.ts'
import type { Language } from '../platform/text/languages.ts'
import { breakLinks } from '../platform/text/links.ts'
import { toSingleLine } from '../platform/text/strip-invisible.ts'
import { getRetentionPeriods } from './retention-periods.ts'
import { getPrivacySettings, type PrivacySettings } from './settings.ts'

/** The notice about personal data and the texts of its page in all languages, from `data/notices/`. */

const NOTICES_FOLDER = new URL('../../data/notices/', import.meta.url)
const SLOT_PATTERN = /\{(\w+)\}/g

/** The page whose link a person opened: that of a candidate, of a student's session, or of a reviewer. */
export const subjectKinds = ['candidate', 'session', 'review'] as const
export type SubjectKind = (typeof subjectKinds)[number]

type NoticeTexts = Readonly<Record<string, string>>

const textsByLanguage = new Map<Language, NoticeTexts>()

/** Returns all texts in a language, with their slots unfilled. */
export function noticeTexts(language: Language): NoticeTexts {
  let texts = textsByLanguage.get(language)
  if (!texts) {
    texts = parseTexts(readFileSync(new URL(`${language}.txt`, NOTICES_FOLDER), 'utf8'))
    textsByLanguage.set(language, texts)
  }
  return texts
}

/** Returns one text with its slots filled. */
export function noticeText(language: Language, key: string, values: Record<string, string | number> = {}): string {
  const text = noticeTexts(language)[key]
  if (text === undefined) throw new Error(`data/notices/${language}.txt does not contain ${key}`)
  return text.replace(SLOT_PATTERN, (_, slot: string) => {
    const value = values[slot]
    if (value === undefined) throw new Error(`notice text ${key} requires a value for {${slot}}`)
    return String(value)
  })
}

/** Returns the version of the notice, which is stored with every consent. */
export function noticeVersion(): number {
  return Number(noticeText('en', 'version'))
}

export interface NoticeSection {
  title: string
  paragraphs: string[]
}

/** Returns the notice of an organisation for candidates, students or reviewers. For candidates, also names the hiring company, which gets their answers. */
export async function renderNotice(
  queries: Queries,
  orgId: string,
  kind: SubjectKind,
  language: Language,
  hiringCompany?: string,
): Promise<{ version: number; organisation: string; sections: NoticeSection[] }> {
  const { name } = await getOrganisation(queries, orgId)
  const settings = await getPrivacySettings(queries, orgId)
  const periods = await getRetentionPeriods(queries, orgId)
  const organisation = breakLinks(toSingleLine(name))
  const text = (key: string, values: Record<string, string | number> = {}) =>
    noticeText(language, key, { organisation, ...values })
  const company = hiringCompany === undefined ? organisation : breakLinks(toSingleLine(hiringCompany))
  const recipients = new Intl.ListFormat(language).format(new Set([organisation, company]))
  const questions = questionContact(settings)
  const complaints = complaintContact(settings)
  return {
    version: noticeVersion(),
    organisation,
    sections: [
      {
        title: text('who_title'),
        paragraphs: [text('who'), ...(questions ? [text('contact', { contact: questions })] : [])],
      },
      { title: text('what_title'), paragraphs: [text(`what_${kind}`)] },
      { title: text('why_title'), paragraphs: [text(`why_${kind}`, { organisation: recipients })] },
      { title: text('how_long_title'), paragraphs: [text('how_long', periods)] },
      { title: text('rights_title'), paragraphs: [text('rights')] },
      {
        title: text('complaint_title'),
        paragraphs: [complaints ? text('complaint', { contact: complaints }) : text('complaint_none'), text('board')],
      },
    ],
  }
}

/** Returns the contact for questions about personal data, else that for complaints, else undefined. */
function questionContact({ privacy_email, postal_address, ...settings }: PrivacySettings): string | undefined {
  return [privacy_email, postal_address].filter(Boolean).join(', ') || complaintContact(settings)
}

function complaintContact(
  settings: Pick<PrivacySettings, 'grievance_name' | 'grievance_email' | 'grievance_phone'>,
): string | undefined {
  const { grievance_name, grievance_email, grievance_phone } = settings
  return [grievance_name, grievance_email, grievance_phone].filter(Boolean).join(', ') || undefined
}

function parseTexts(source: string): NoticeTexts {
  const texts: Record<string, string> = {}
  for (const line of source.split('\n')) {
    const [, key, text] = /^(\w+) = (.+)$/.exec(line) ?? []
    if (key && text) texts[key] = text
  }
  return texts
}
