import packageJson from '../../package.json' with { type: 'json' }
import { headingId } from './heading-id.ts'

/** A section of the changelog. */
interface Release {
  /** The version, or `Unreleased`. */
  name: string
  /** Empty if the version was not released. */
  date: string
  anchor: string
  /** Number of entries by kind, such as Added. */
  entryCounts: [kind: string, count: number][]
}

/** Returns the Markdown of the list of versions. The links are relative to docs/. */
export function renderVersions(changelog: string): string {
  const releases = readReleases(changelog).filter(
    ({ name, entryCounts }) => name !== 'Unreleased' || entryCounts.length > 0,
  )
  const rows = releases.map(({ name, date, anchor, entryCounts }) => {
    const counts = entryCounts.map(([kind, count]) => `${count} ${kind.toLowerCase()}`).join(', ')
    const notes = `[Notes](../CHANGELOG.md#${anchor})${counts ? `: ${counts}` : ''}`
    return `| ${name} | ${date || 'not released'} | ${date ? `\`v${name}\`` : 'none'} | ${notes} |`
  })
  return `# Versions

This server has version **${packageJson.version}**. Every response contains it in the header:

\`\`\`text
Attestry-Version: ${packageJson.version}
\`\`\`

The paths of the HTTP APIs have a version of their own, such as \`/api/v1\`, which changes only with incompatible changes: see
[Versioning and deprecation](reference/versioning.md).

| Version | Date | Tag | Changes |
| ------- | ---- | --- | ------- |
${rows.join('\n')}

A version with a date was released: the tag marks its source code, with its documentation in \`docs/\`. A version without a date has no tag.
A server that runs from a checkout with unreleased changes still returns the number of the previous version.
`
}

function readReleases(changelog: string): Release[] {
  const sections = changelog.split(/^## /m).slice(1)
  return sections.map((section) => {
    const [heading = ''] = section.split('\n', 1)
    const [name = '', date = ''] = heading.split(' - ')
    const parts = section.split(/^### /m).slice(1)
    const entryCounts = parts.map((part): [string, number] => [
      part.split('\n', 1)[0]!,
      part.match(/^- /gm)?.length ?? 0,
    ])
    return { name, date, anchor: headingId(heading), entryCounts }
  })
}
