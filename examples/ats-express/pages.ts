import type { Job } from './store.ts'

export function jobsPage(jobs: Job[]): string {
  const items = jobs.map((job) => `<li><a href="/jobs/${job.id}">${escapeHtml(job.title)}</a> (${job.status})</li>`)
  return page(
    'Jobs',
    `<ul>${items.join('')}</ul>
    <form method="post" action="/jobs">
      <label>Title <input name="title" value="Mason" required></label>
      <label>City <input name="city" value="Pune" required></label>
      <label>Skill ID <input name="skill_id" value="sk_1001" required></label>
      <button>Create job</button>
    </form>`,
  )
}

export function jobPage(job: Job): string {
  const rows = job.candidates.map(({ name, result }) => {
    const skills = result?.output.skills?.map((skill) => `${escapeHtml(skill.name)}: ${skill.verdict}`).join(', ')
    const cells = [escapeHtml(name), result?.status ?? 'enrolled', describe(result?.output.qualified), skills ?? '']
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`
  })
  return page(
    `${job.title} (${job.status})`,
    `<table><tr><th>Candidate</th><th>Status</th><th>Qualified</th><th>Skills</th></tr>${rows.join('')}</table>
    <form method="post" action="/jobs/${job.id}/candidates">
      <label>Name <input name="name" required></label>
      <label>Phone <input name="phone" value="+919990000001" required></label>
      <button>Enrol</button>
    </form>
    <a href="/">All jobs</a>`,
  )
}

function describe(qualified: boolean | null | undefined): string {
  return qualified === true ? 'yes' : qualified === false ? 'no' : ''
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeHtml(title)}</title><h1>${escapeHtml(title)}</h1>${body}</html>`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
