import {
  describeEvidence,
  describeQualified,
  describeQuestions,
  describeReasons,
  describeVerifiedSkills,
} from '../../sdk/verdict-texts.ts'
import type { Candidacy } from '../campaigns/candidacy.ts'
import { languageName } from '../platform/text/languages.ts'
import { resultOutput } from '../results/record.ts'
import { describePending, questionTextOf, summariseResult } from './summary.ts'

/** The texts of a report, for the page and for the PDF file. They contain no phone number and no email address. */
export interface ReportContent {
  title: string
  /** Undefined in LIVE mode. */
  testNotice: string | undefined
  job: string | undefined
  summary: string
  sections: ReportSection[]
  /** The day until which the link works; undefined for a report without a link. */
  linkExpiry: string | undefined
}

export interface ReportSection {
  heading: string
  paragraphs?: string[]
  list?: string[]
  skills?: { name: string; verdict: string; evidence: string; questions: string }[]
  facts?: { name: string; value: string }[]
}

export interface ReportSubject {
  name: string
  mode: 'test' | 'live'
  /** The first sentences. */
  summary: string
  /** Undefined if the person was erased. */
  candidate: Candidacy | undefined
  /** Whether the result is shown. */
  hasResult: boolean
  /** Undefined for a report without a link, in epoch milliseconds. */
  linkExpiresAt: number | undefined
}

/** Returns the report about a candidate of any campaign. */
export function candidateReport(candidate: Candidacy, linkExpiresAt: number | undefined): ReportContent {
  const hasResult = candidate.status !== 'pending'
  return reportContent({
    name: candidate.name,
    mode: candidate.mode,
    summary: hasResult ? summariseResult(candidate) : describePending(candidate.started_at !== null),
    candidate,
    hasResult,
    linkExpiresAt,
  })
}

export function reportContent(subject: ReportSubject): ReportContent {
  const { name, mode, summary, candidate, hasResult, linkExpiresAt } = subject
  return {
    title: `Report: ${name}`,
    testNotice: mode === 'test' ? 'TEST: this is not the report of a real person.' : undefined,
    job: candidate && `${candidate.flow.title}, ${candidate.flow.company_name}`,
    summary,
    sections: [
      ...(hasResult && candidate ? resultSections(candidate) : []),
      ...(candidate ? [datesSection(candidate)] : []),
      {
        heading: 'What this shows',
        paragraphs: [
          'A verdict is given only if the answers show it with a certainty of at least 95 %. Otherwise the skill is inconclusive: neither verdict is certain enough. Questions are drawn for each candidate.',
        ],
      },
    ],
    linkExpiry: linkExpiresAt === undefined ? undefined : formatDate(new Date(linkExpiresAt)),
  }
}

/** Returns the sections without the sentences that the summary already has, for pages that show the summary above them. */
export function sectionsBelowSummary({
  summary,
  sections,
}: Pick<ReportContent, 'summary' | 'sections'>): ReportSection[] {
  const isNew = (text: string) => !summary.toLowerCase().includes(text.toLowerCase())
  return sections
    .map(({ paragraphs = [], list = [], ...section }) => ({
      ...section,
      paragraphs: paragraphs.filter(isNew),
      list: list.filter(isNew),
    }))
    .filter(({ paragraphs, list, skills, facts }) => paragraphs.length + list.length > 0 || skills || facts)
}

function resultSections(candidate: Candidacy): ReportSection[] {
  const output = resultOutput(candidate)
  const skills = output.skills ?? []
  const answers = Object.entries(output.enrichment ?? {})
  const sections: ReportSection[] = []
  if (candidate.status === 'completed')
    sections.push({
      heading: 'Verdict',
      paragraphs: [capitalise(describeQualified(output.qualified))],
      list: describeReasons(output, {
        withEvidence: true,
        questionText: (key) => questionTextOf(candidate, key),
      }).map(capitalise),
    })
  if (skills.length > 0)
    sections.push({
      heading: 'Skills',
      paragraphs: [describeVerifiedSkills(skills)],
      skills: skills.map(({ name, verdict, evidence, ...counts }) => ({
        name,
        verdict: capitalise(verdict.replace('_', ' ')),
        evidence: describeEvidence({ verdict, ...counts }),
        questions: evidence ? describeQuestions(evidence) : '–',
      })),
    })
  if (answers.length > 0)
    sections.push({
      heading: 'Answers',
      facts: answers.map(([key, { answer, knocked_out }]) => ({
        name: questionTextOf(candidate, key) ?? key,
        value: `${withoutContactData(capitalise(answer))}${knocked_out ? ' (required answer not given)' : ''}`,
      })),
    })
  if (output.interest)
    sections.push({
      heading: 'Interest',
      paragraphs: [output.interest === 'interested' ? 'Interested in the job.' : 'Not interested in the job.'],
    })
  return sections
}

function datesSection(candidate: Candidacy): ReportSection {
  const language = languageName(candidate.state.language)
  return {
    heading: 'Dates',
    facts: [
      { name: 'Invited', value: formatDate(candidate.created_at) },
      ...(candidate.completed_at ? [{ name: 'Finished', value: formatDate(candidate.completed_at) }] : []),
      ...(language ? [{ name: 'Language', value: language }] : []),
    ],
  }
}

/** Removes email addresses and phone numbers that a candidate wrote into an answer. */
function withoutContactData(text: string): string {
  return text.replace(/[^\s@]+@[^\s@]+\.[^\s@]+/g, '[email address]').replace(/\+?\d(?:[\s().-]?\d){7,14}/g, '[number]')
}

function formatDate(date: Date): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'Asia/Kolkata' }).format(date)
}

function capitalise(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}
