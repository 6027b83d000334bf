import { buildCredential } from '../../server/credentials/build-credential.ts'
import type { Facts } from '../../server/credentials/facts.ts'
import { buildDidDocument, didWeb } from '../../server/credentials/proof/did-document.ts'
import { generateKeyPair, type SigningKey } from '../../server/credentials/proof/keys.ts'
import { signCredential } from '../../server/credentials/proof/sign.ts'
import { buildStatusListCredential, createStatusList } from '../../server/credentials/proof/status-list.ts'
import type { JsonObject } from '../../server/platform/json.ts'

/** The time at which the sample credentials are issued. */
export const ISSUED_AT = new Date('2026-01-01T10:00:00Z')

/** An issuer with one key and one status list, below a base URL. */
export interface SampleIssuer {
  key: SigningKey
  didDocument: JsonObject
  statusListUrl: string
  /** Bits of the status list; set one to revoke a credential. */
  bits: Uint8Array
  signStatusList(): Promise<JsonObject>
}

export async function createIssuer(baseUrl: string, keyNumber = 1): Promise<SampleIssuer> {
  const did = didWeb(baseUrl, 'organisations', 'ORG_1')
  const key = { did, id: `${did}#key-${keyNumber}`, ...(await generateKeyPair()) }
  const statusListUrl = `${baseUrl}/credentials/status/1`
  const bits = createStatusList()
  return {
    key,
    didDocument: buildDidDocument(did, [{ ...key, revokedAt: null }]),
    statusListUrl,
    bits,
    signStatusList: () =>
      signCredential(buildStatusListCredential({ id: statusListUrl, did, bits, validFrom: ISSUED_AT }), key, ISSUED_AT),
  }
}

/**
 * Returns an unsigned credential as the server builds it. The number makes it unique, and chooses how the skill was verified, whether the
 * person is identified by mailbox or phone number, and whether the name is shown.
 */
export function sampleCredential(
  { key, statusListUrl }: Pick<SampleIssuer, 'key' | 'statusListUrl'>,
  number = 1,
): JsonObject {
  const baseUrl = new URL(statusListUrl).origin
  return buildCredential({
    id: `${baseUrl}/credentials/crd_${number}`,
    baseUrl,
    issuer: { did: key.did, name: 'Example organisation', isTest: number % 10 === 0 },
    skill: {
      number,
      name: `Skill ${number}`,
      description: `The skill ${number}.`,
      escoUris: number % 2 === 1 ? [`http://data.europa.eu/esco/skill/${number}`] : [],
    },
    facts: FACTS[number % FACTS.length]!,
    contact:
      number % 3 === 0
        ? { kind: 'phone', value: `+9198000${String(number).padStart(5, '0')}` }
        : { kind: 'email', value: `person-${number}@example.org` },
    salt: `salt-${number}`,
    shownName: number % 2 === 1 ? `Person ${number}` : undefined,
    status: { listUrl: statusListUrl, index: number },
    validFrom: ISSUED_AT,
    validUntil: new Date('2028-01-01T10:00:00Z'),
  })
}

const MEASURED: Facts = {
  method: 'campaign',
  verifiedAt: '2026-01-01T09:00:00.000Z',
  language: 'hi',
  correct: 6,
  asked: 7,
  confidence: 0.971,
  itemSource: 'bank',
  evidenceLevel: null,
  relation: null,
  source: null,
}

/** One example of each method. */
const FACTS: Facts[] = [
  MEASURED,
  { ...MEASURED, method: 'assessment', language: 'en', source: { type: 'project', title: 'Garden wall' } },
  {
    ...MEASURED,
    ...{ method: 'endorsement', language: null, correct: null, asked: null, confidence: null, itemSource: null },
    evidenceLevel: 'strong',
    relation: 'manager',
    source: { type: 'experience', title: 'Mason' },
  },
]

/** Parts of a credential whose characters a JSON reader can change without breaking the JSON. */
const VALUE = /"(?:[^"\\]|\\.)+"(?=[,}\]])/g

/**
 * Returns the credential with one character of one of its values replaced. `seed` chooses the value and the character, so that
 * consecutive seeds change different ones.
 */
export function changeOneByte(credential: JsonObject, seed: number): JsonObject {
  const json = JSON.stringify(credential)
  const values = [...json.matchAll(VALUE)]
  const value = values[seed % values.length]!
  const offset = 1 + ((Math.floor(seed / values.length) * 7) % (value[0].length - 2))
  const index = value.index + offset
  const replacement = json[index] === 'x' ? 'y' : 'x'
  return JSON.parse(json.slice(0, index) + replacement + json.slice(index + 1)) as JsonObject
}
