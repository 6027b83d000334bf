import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCsv } from './csv.ts'
import { candidateFrom, findRepeats, readPhone, readRoster } from './roster.ts'

test('CSV is parsed with quoted cells and comma, semicolon or tab separators', () => {
  assert.deepEqual(parseCsv('\ufeffa,b\r\n"x, ""y""\nz", 2 \r\n\r\n,\n3,4'), [
    ['a', 'b'],
    ['x, "y"\nz', '2'],
    ['3', '4'],
  ])
  assert.deepEqual(parseCsv('a;b\n1,5;2'), [
    ['a', 'b'],
    ['1,5', '2'],
  ])
  assert.deepEqual(parseCsv('a\tb\n1\t2'), [
    ['a', 'b'],
    ['1', '2'],
  ])
  assert.deepEqual(parseCsv(''), [])
})

test('the meaning of a column is derived from its name', () => {
  const roster = readRoster(
    'Candidate name,Mobile No.,E-mail,Applicant ID,Preferred language,City\nAsha,98123 45678,a@b.in,7,Hindi,Pune',
  )
  assert.deepEqual(roster.meanings, ['name', 'phone', 'email', 'external_candidate_id', 'language', 'metadata'])
  assert.equal(roster.rows[0]!.number, 2)
  assert.deepEqual(candidateFrom(roster, roster.rows[0]!), {
    external_candidate_id: '7',
    name: 'Asha',
    phone: '+919812345678',
    email: 'a@b.in',
    language: 'hi',
    metadata: { City: 'Pune' },
  })
})

test('consent columns become the consent of the candidate', () => {
  const roster = readRoster(
    [
      'Name,Phone,Consent basis,Consent date,Consent source,Consent text version',
      'Asha,9812345678,Consent,2026-03-01,Job fair in Pune,2026-02',
      'Ravi,9812345679,,,,',
      'Meena,9812345670,Legitimate use,yesterday,,',
    ].join('\n'),
  )
  assert.deepEqual(roster.meanings.slice(2), [
    'consent.basis',
    'consent.obtained_at',
    'consent.source',
    'consent.text_version',
  ])
  assert.deepEqual(
    roster.rows.map((row) => candidateFrom(roster, row).consent),
    [
      {
        basis: 'consent',
        obtained_at: '2026-03-01T00:00:00+05:30',
        source: 'Job fair in Pune',
        text_version: '2026-02',
      },
      undefined,
      { basis: 'legitimate_use', obtained_at: 'yesterday', source: '' },
    ],
  )
})

test('without a header line, columns are recognised by their cells, and candidates are identified by phone number', () => {
  const roster = readRoster('Asha Rao,9812345678\nRavi,9812345679,x')
  assert.deepEqual(roster.meanings, ['name', 'phone'])
  assert.deepEqual(
    roster.rows.map(({ number }) => number),
    [1, 2],
  )
  assert.deepEqual(candidateFrom(roster, roster.rows[1]!), {
    external_candidate_id: '919812345679',
    name: 'Ravi',
    phone: '+919812345679',
  })
})

test('phone numbers are normalised, and invalid numbers are left for the API to reject', () => {
  assert.equal(readPhone('+91 98123-45678'), '+919812345678')
  assert.equal(readPhone('09812345678'), '+919812345678')
  assert.equal(readPhone('0091 098123 45678'), '+919812345678')
  assert.equal(readPhone('+91 (0) 98123-45678'), '+919812345678')
  assert.equal(readPhone('0044 20 7946 0000'), '+442079460000')
  assert.equal(readPhone('12345'), '12345')
  assert.equal(readPhone('9.19812E+11'), '919812E+11')
})

test('a row with the phone number or ID of an earlier valid row is reported as a repeat', () => {
  const roster = readRoster(
    'name,phone,ref\nAsha,98123 45678,1\nRavi,98123 45679,2\nAsha R,+919812345678,3\nMeera,98123 45670,2\n,98123 45671,4\nDev,98123 45671,5',
  )
  const candidates = roster.rows.map((row) => candidateFrom(roster, row))
  assert.deepEqual(
    [...findRepeats(roster, candidates, new Set([4]))],
    [
      [2, 'Same phone number as row 2; this person is enrolled only once'],
      [3, 'Same ID as row 3; this person is enrolled only once'],
    ],
  )
  const rosterWithoutIds = readRoster('Asha,a@example.in\nAsha,a@example.in')
  const repeatedCandidates = rosterWithoutIds.rows.map((row) => candidateFrom(rosterWithoutIds, row))
  assert.deepEqual(
    [...findRepeats(rosterWithoutIds, repeatedCandidates, new Set())],
    [[1, 'Same email address as row 1; this person is enrolled only once']],
  )
})
