import assert from 'node:assert/strict'
import { test } from 'node:test'
import { languageWarnings } from './languages.ts'

test('a warning about skills names five of them and counts the others', () => {
  const skills = Array.from({ length: 7 }, (_, index) => ({
    name: `Skill ${index + 1}`,
    source: 'bank' as const,
    available: ['en' as const],
    missing: ['ta' as const],
  }))
  const [warning] = languageWarnings({ enrichment: [], skills })
  assert.match(warning!, /Skill 5 in Tamil \(the built-in bank has only English\); and 2 more\. /)
  assert.doesNotMatch(warning!, /Skill 6/)
  assert.doesNotMatch(languageWarnings({ enrichment: [], skills: skills.slice(0, 5) })[0]!, /more/)
})
