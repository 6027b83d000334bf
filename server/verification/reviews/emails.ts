import type { EmailBrand } from '../../branding/email-brand.ts'
import {
  boxHtml,
  brandEmail,
  buttonHtml,
  emailHtml,
  linkHtml,
  paragraphHtml,
  smallHtml,
} from '../../mail/email-html.ts'
import type { EmailContent, EmailKind } from '../../mail/mail.ts'
import { escapeHtml } from '../../platform/text/escape-html.ts'
import { breakLinks } from '../../platform/text/links.ts'
import { toSingleLine } from '../../platform/text/strip-invisible.ts'
import type { EndorsementType, SkillOutcome, VerificationSource } from '../schema.ts'
import { OUTCOME_TEXTS, type OutcomeLanguage, outcomeLanguages } from './outcome-texts.ts'

/** Emails of a review, as text and as HTML. All user text is escaped. */

export type ReviewEmail = EmailContent & { kind: EmailKind }

interface Person {
  name: string
  email: string
}

export interface ReviewRequest {
  reviewer: Person & { company: string }
  student: Person
  endorsementType: EndorsementType
  source: VerificationSource
  skills: string[]
  link: string
  /** Expiry time of the link in epoch milliseconds. */
  expiresAt: number
  reminder: boolean
  /** Link with which the reviewer stops all review requests. */
  unsubscribeUrl: string
  /** Name of the organisation that requested the verification. */
  organisation: string
  brand: EmailBrand | undefined
}

const ROLE_PHRASES: Record<EndorsementType, string> = {
  manager: 'as their manager',
  mentor: 'as their mentor',
  peer: 'as a colleague',
  client: 'as their client',
  faculty: 'as their teacher',
}

export function reviewRequestEmail(request: ReviewRequest): ReviewEmail {
  return brandEmail(requestEmail(request), request.brand)
}

function requestEmail(request: ReviewRequest): ReviewEmail {
  const { endorsementType, link, expiresAt, reminder, unsubscribeUrl, brand } = request
  const organisation = shorten(request.organisation)
  const reviewer = nameOf(request.reviewer)
  const student = studentName(request.student)
  const skills = request.skills.map(toSkillLine)
  const sourceText = sourceLine(request.source, 'en')
  const expiryDate = formatDate(expiresAt)
  const requestText = `${student} asks you, ${ROLE_PHRASES[endorsementType]}, to confirm ${skills.length === 1 ? 'a skill' : 'skills'} from work that you have seen:`
  const reasonText = `This request is sent on behalf of ${student}, who named you, and ${organisation}, which asked for this verification.`
  // The language of the reviewer is not known.
  const hindi = [
    `${organisation} के लिए ${student} के हुनर की जाँच हो रही है, और ${student} ने आपका नाम दिया है। पुष्टि के लिए ऊपर दिया गया लिंक खोलें। इसमें लगभग एक मिनट लगता है, और खाता बनाने की ज़रूरत नहीं है। लिंक ${formatDate(expiresAt, 'hi-IN')} तक काम करेगा। यह केवल आपके लिए है, इसलिए इसे किसी के साथ शेयर न करें।`,
    `आपका नाम और जवाब ${student} और ${organisation} को दिखाए जाएँगे। अगर आप ${student} को नहीं जानते या समीक्षा नहीं करना चाहते, तो उसी पेज पर मना कर सकते हैं।`,
  ]
  const subject = reminder
    ? `Reminder: ${student} is waiting for your review`
    : `${student} asks you to confirm ${skills.length === 1 ? 'a skill' : `${skills.length} skills`}`
  const closing = [
    `The review takes about a minute, and you do not need an account. The link works until ${expiryDate}. It is personal, so please do not share it.`,
    `${student} and ${organisation} will see your answer and your name. A skill that you confirm counts as verified. If you change your mind, you can withdraw your confirmation for 90 days.`,
    `If you do not know ${student} or would rather not review them, you can decline on the review page.`,
  ]
  return {
    kind: reminder ? 'review_reminder' : 'review_request',
    subject,
    text: [
      `Hello ${reviewer},`,
      requestText,
      [sourceText, ...skills.map((skill) => `- ${skill}`)].join('\n'),
      reasonText,
      `Review: ${link}`,
      ...closing,
      ...hindi,
      ...unsubscribeLines(REVIEWER_UNSUBSCRIBE, unsubscribeUrl),
    ].join('\n\n'),
    html: emailHtml({
      language: 'en',
      title: subject,
      brand,
      body: [
        paragraphHtml(`Hello ${reviewer},`),
        paragraphHtml(requestText),
        boxHtml(sourceText, skills, brand),
        paragraphHtml(reasonText),
        buttonHtml('Review now', link, brand),
        smallHtml(`Or copy this address into your browser:<br>${linkHtml(link, brand)}`, '0 0 24px'),
        ...closing.map((text) => paragraphHtml(text)),
        ...hindi.map((text) => paragraphHtml(text, 'hi')),
        unsubscribeHtml(REVIEWER_UNSUBSCRIBE, unsubscribeUrl, brand),
      ].join('\n'),
    }),
    replyTo: request.student.email,
  }
}

export interface ReviewOutcome {
  student: Person
  reviewer: Person
  source: VerificationSource
  skills: SkillOutcome[]
  /** The language of the student. If it is not known or not one of the texts, the email is in English, with a Hindi sentence. */
  language: string | undefined
  /** The reviewer's reason, if the review was declined. */
  declined?: string
  /** Why the endorsement was withdrawn, and whether the reviewer did it. */
  withdrawn?: { byReviewer: boolean; reason: string }
  /** Link with which the student stops all emails about reviews. */
  unsubscribeUrl: string
  brand: EmailBrand | undefined
}

export function reviewOutcomeEmail(outcome: ReviewOutcome): ReviewEmail {
  return brandEmail(outcomeEmail(outcome), outcome.brand)
}

function outcomeEmail(outcome: ReviewOutcome): ReviewEmail {
  const { skills, declined, withdrawn, unsubscribeUrl, brand } = outcome
  const knownLanguage = outcomeLanguages.find((each) => each === outcome.language)
  const language = knownLanguage ?? 'en'
  const texts = OUTCOME_TEXTS[language]
  const greeting = texts.greeting(studentName(outcome.student))
  const reviewer = nameOf(outcome.reviewer)
  const sourceText = sourceLine(outcome.source, language)
  const reason = withdrawn?.reason ?? declined
  const { subject, intro } = withdrawn
    ? texts.withdrawn(reviewer, withdrawn.byReviewer)
    : declined === undefined
      ? texts.reviewed(reviewer)
      : texts.declined(reviewer)
  const lines =
    reason === undefined
      ? skills.map(
          ({ name, outcome: verdict, rating }) =>
            `${toSkillLine(name)}: ${texts.verdict(verdict === 'endorsed', rating)}`,
        )
      : [`“${toShortLine(reason)}”`]
  const closing = reason === undefined ? [] : [texts.nextStep]
  const hindi = knownLanguage ? [] : [hindiSummary(outcome, reviewer)]
  return {
    kind: 'review_outcome',
    subject,
    text: [
      greeting,
      intro,
      ...(reason === undefined
        ? [[sourceText, ...lines.map((line) => `- ${line}`)].join('\n')]
        : [...lines, sourceText]),
      ...closing,
      ...hindi,
      ...unsubscribeLines(STUDENT_UNSUBSCRIBE, unsubscribeUrl, knownLanguage),
    ].join('\n\n'),
    html: emailHtml({
      language,
      title: subject,
      brand,
      body: [
        paragraphHtml(greeting),
        paragraphHtml(intro),
        boxHtml(sourceText, lines, brand),
        ...closing.map((text) => paragraphHtml(text)),
        ...hindi.map((text) => paragraphHtml(text, 'hi')),
        unsubscribeHtml(STUDENT_UNSUBSCRIBE, unsubscribeUrl, brand, knownLanguage),
      ].join('\n'),
    }),
  }
}

/** Returns the Hindi sentence in the English email to a student whose language is not known. */
function hindiSummary({ declined, withdrawn }: ReviewOutcome, reviewer: string): string {
  if (withdrawn)
    return `${reviewer} द्वारा आपके हुनर की पुष्टि वापस ले ली गई है। इस पर आधारित प्रमाणपत्र अब मान्य नहीं हैं। आप किसी और से अनुरोध कर सकते हैं।`
  if (declined === undefined) return 'आपके हुनर की समीक्षा पूरी हो गई है।'
  return `${reviewer} आपके हुनर की समीक्षा नहीं कर सके। आप किसी और से अनुरोध कर सकते हैं।`
}

type UnsubscribeText = Record<OutcomeLanguage, string>

const REVIEWER_UNSUBSCRIBE: UnsubscribeText = {
  en: 'To stop all review requests, unsubscribe:',
  hi: 'समीक्षा के अनुरोध नहीं चाहिए? इस लिंक से बंद करें:',
}
const STUDENT_UNSUBSCRIBE: UnsubscribeText = {
  en: 'To stop emails about reviews, unsubscribe:',
  hi: 'समीक्षा के ईमेल नहीं चाहिए? इस लिंक से बंद करें:',
}

/** Without a known language, the text is in both languages. */
function unsubscribeLines(texts: UnsubscribeText, url: string, language?: OutcomeLanguage): string[] {
  return [[...(language ? [texts[language]] : [texts.en, texts.hi]), url].join('\n')]
}

function unsubscribeHtml(
  texts: UnsubscribeText,
  url: string,
  brand: EmailBrand | undefined,
  language?: OutcomeLanguage,
): string {
  const text = language
    ? escapeHtml(texts[language])
    : `${escapeHtml(texts.en)}<br><span lang="hi">${escapeHtml(texts.hi)}</span>`
  return smallHtml(`${text}<br>${linkHtml(url, brand)}`)
}

/** Returns the dates of a source in words: “Jan 2023 – Jun 2024” for `2023-01 – 2024-06`, as partners send them; in Hindi with full names of months. */
function formatMonths(meta: string, language: OutcomeLanguage): string {
  const [locale, length] = language === 'hi' ? (['hi-IN', 'long'] as const) : (['en-GB', 'short'] as const)
  return meta.replace(/\b\d{4}-(?:0[1-9]|1[0-2])\b(?!-)/g, (month) =>
    new Date(`${month}-01`).toLocaleDateString(locale, { month: length, year: 'numeric', timeZone: 'UTC' }),
  )
}

function sourceLine({ title, subtitle, meta }: VerificationSource, language: OutcomeLanguage): string {
  return [title, subtitle, meta && formatMonths(meta, language)]
    .filter((part) => part !== null)
    .map(toShortLine)
    .join(', ')
}

/** Returns the name, or the email address if the name has no visible character. */
function nameOf({ name, email }: Person): string {
  return toShortLine(name) || email
}

/**
 * Returns the student's name for an email to the reviewer. If the name is empty, returns the email address, written so that mail programs
 * do not turn it into a link.
 */
function studentName({ name, email }: Person): string {
  return nameOf({ name, email: breakLinks(email) })
}

const MAX_LINE_LENGTH = 500

/** Reduces user text to one line that cannot look like another part of the email and contains no link. */
function toShortLine(text: string): string {
  return shorten(breakLinks(toSingleLine(text)))
}

/** Returns the name of a skill, which comes from the catalogue: its dots, as in ASP.NET, are no links. */
function toSkillLine(name: string): string {
  return shorten(toSingleLine(name))
}

function shorten(singleLine: string): string {
  return [...singleLine].length > MAX_LINE_LENGTH
    ? `${[...singleLine].slice(0, MAX_LINE_LENGTH).join('')}…`
    : singleLine
}

function formatDate(time: number, locale = 'en-IN'): string {
  return new Date(time).toLocaleDateString(locale, {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'Asia/Kolkata',
  })
}
