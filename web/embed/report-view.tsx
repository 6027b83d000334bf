import { render } from 'preact'
import { call } from '../api.ts'
import type { EmbeddedReport, ReportSection, ReportSkill } from '../api-types/candidate.ts'
import { embeddedBrand } from '../branding/apply-brand.ts'
import { BrandFooter, BrandName } from '../branding/brand.tsx'
import { paths } from '../paths.ts'
import type { ViewOptions } from './view-options.ts'

/** Shows the report. Returns the error code if it cannot be shown. */
export async function show(root: HTMLElement, { token }: ViewOptions) {
  const result = await call<EmbeddedReport>(paths.embeddedReport, { headers: { authorization: `Bearer ${token}` } })
  if (!result.ok) return result.code
  render(<Report report={result.data} />, root)
  return undefined
}

/** The report in the same words as on the shared page, which the server renders (`server/reports/report-view.ts`). */
function Report({ report: { title, testNotice, job, summary, sections } }: { report: EmbeddedReport }) {
  const brand = embeddedBrand()
  document.title = title
  document.documentElement.lang = 'en'
  return (
    <main class="embedded-report">
      {brand && <BrandName brand={brand} />}
      <h1 dir="auto">{title}</h1>
      {testNotice && <p class="notice wait">{testNotice}</p>}
      {job && <p dir="auto">{job}</p>}
      <p class="verdict">{withUnits(summary)}</p>
      {sectionsBelowSummary(summary, sections).map((section) => (
        <Section key={section.heading} section={section} />
      ))}
      <BrandFooter brand={brand} />
    </main>
  )
}

/** Returns the sections without the sentences that the summary already has. */
function sectionsBelowSummary(summary: string, sections: ReportSection[]): ReportSection[] {
  const isNew = (text: string) => !summary.toLowerCase().includes(text.toLowerCase())
  return sections
    .map(({ paragraphs = [], list = [], ...section }) => ({
      ...section,
      paragraphs: paragraphs.filter(isNew),
      list: list.filter(isNew),
    }))
    .filter(({ paragraphs, list, skills, facts }) => paragraphs.length + list.length > 0 || skills || facts)
}

/** Keeps a number on the line of its unit: “97 % certain”, “14 s”. */
function withUnits(text: string): string {
  return text.replace(/(\d) (%|s\b)( certain)?/g, (words) => words.replaceAll(' ', '\u00a0'))
}

function Section({
  section: { heading, paragraphs = [], list = [], skills = [], facts = [] },
}: {
  section: ReportSection
}) {
  return (
    <section>
      <h2>{heading}</h2>
      {paragraphs.map((text) => (
        <p key={text}>{withUnits(text)}</p>
      ))}
      {list.length > 0 && (
        <ul>
          {list.map((text) => (
            <li key={text}>{withUnits(text)}</li>
          ))}
        </ul>
      )}
      {skills.length > 0 && <Skills skills={skills} />}
      {facts.length > 0 && (
        <dl>
          {facts.map(({ name, value }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd dir="auto">{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  )
}

function Skills({ skills }: { skills: ReportSkill[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Skill</th>
          <th scope="col">Verdict</th>
          <th scope="col">Evidence</th>
          <th scope="col">Questions</th>
        </tr>
      </thead>
      <tbody>
        {skills.map(({ name, verdict, evidence, questions }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{verdict}</td>
            <td>{withUnits(evidence)}</td>
            <td>{withUnits(questions)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
