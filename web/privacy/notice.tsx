import type { YourDataView } from '../api-types/candidate.ts'

/** The notice about personal data: who is responsible, what is stored, why and how long, the rights, and the contact for complaints. */
export function NoticeSections({ notice, language }: Pick<YourDataView, 'notice' | 'language'>) {
  return (
    <div class="stack-tight" lang={language} dir="auto">
      {notice.sections.map(({ title, paragraphs }) => (
        <section key={title}>
          <h2>{title}</h2>
          {paragraphs.map((paragraph) => (
            <p key={paragraph}>{paragraph}</p>
          ))}
        </section>
      ))}
    </div>
  )
}
