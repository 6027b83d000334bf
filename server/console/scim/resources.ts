import SCIMMY from 'scimmy'
import type { ScimGroup, ScimGroupValues } from './groups.ts'
import { SCIM_BASE } from './paths.ts'
import type { ScimUser, ScimUserValues } from './users.ts'

/** Converts users and groups between the formats of SCIM (RFC 7643) and the database. */

const MAX_LENGTH = 254
/** Only ASCII: another letter can have the same lower-case form, and would match the address of another person. */
const EMAIL_FORMAT = /^[\x21-\x3f\x41-\x7e]{1,64}@[A-Za-z0-9][A-Za-z0-9.-]{0,189}$/

export function scimError(status: number, scimType: string | null, message: string): Error {
  return new SCIMMY.Types.Error(status, scimType as string, message)
}

/** Runs a function of scimmy, and converts its TypeErrors, which describe invalid requests, to errors with status 400. */
function parse<T>(run: () => T, scimType = 'invalidValue'): T {
  try {
    return run()
  } catch (error) {
    if (error instanceof TypeError) throw scimError(400, scimType, error.message)
    throw error
  }
}

function requireObject(body: unknown): object {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw scimError(400, 'invalidSyntax', 'The request body must be a JSON object.')
  return body
}

/** The part of a user that we store. */
interface UserInput {
  userName: string
  externalId?: string
  displayName?: string
  active?: boolean
  name?: { givenName?: string; familyName?: string }
  emails?: { value?: string; primary?: boolean }[]
}

export function readUser(body: unknown, allowedDomains: string[]): ScimUserValues {
  const input = parse(
    () => new SCIMMY.Schemas.User(requireObject(withBooleanActive(body)), 'in'),
  ) as unknown as UserInput
  const { userName, emails = [], name } = input
  const email = (emails.find(({ primary }) => primary) ?? emails[0])?.value ?? userName
  if (!EMAIL_FORMAT.test(email))
    throw scimError(400, 'invalidValue', 'The user needs an email address, in `emails` or as `userName`.')
  const domain = email.slice(email.indexOf('@') + 1).toLowerCase()
  if (!allowedDomains.includes(domain))
    throw scimError(400, 'invalidValue', `The domain ${domain} is not one of the identity provider's allowed domains.`)
  const values = {
    user_name: userName,
    external_id: input.externalId ?? null,
    email,
    display_name: input.displayName ?? null,
    given_name: name?.givenName ?? null,
    family_name: name?.familyName ?? null,
    active: input.active ?? true,
  }
  for (const [field, value] of Object.entries(values))
    if (typeof value === 'string' && value.length > MAX_LENGTH)
      throw scimError(400, 'invalidValue', `${field} must have at most ${MAX_LENGTH} characters.`)
  return values
}

export function formatUser(user: ScimUser, groups: { group_id: string; display_name: string }[] = []) {
  const { user_id, external_id, display_name, given_name, family_name } = user
  const values = {
    id: user_id,
    ...(external_id === null ? {} : { externalId: external_id }),
    userName: user.user_name,
    ...(display_name === null ? {} : { displayName: display_name }),
    ...(given_name === null && family_name === null
      ? {}
      : {
          name: {
            ...(given_name === null ? {} : { givenName: given_name }),
            ...(family_name === null ? {} : { familyName: family_name }),
          },
        }),
    active: user.active,
    emails: [{ value: user.email, primary: true, type: 'work' }],
    ...(groups.length === 0
      ? {}
      : { groups: groups.map((group) => ({ value: group.group_id, display: group.display_name })) }),
    meta: metaOf('User', user),
  }
  return new SCIMMY.Schemas.User(values as never, 'out', `${SCIM_BASE}/Users`)
}

export function readGroup(body: unknown): ScimGroupValues {
  const input = parse(() => new SCIMMY.Schemas.Group(requireObject(body), 'in')) as unknown as {
    displayName: string
    externalId?: string
    members?: { value?: string }[]
  }
  if (input.displayName.length > MAX_LENGTH)
    throw scimError(400, 'invalidValue', `displayName must have at most ${MAX_LENGTH} characters.`)
  return {
    display_name: input.displayName,
    external_id: input.externalId ?? null,
    memberIds: (input.members ?? []).map(({ value }) => value).filter((value) => value !== undefined),
  }
}

export function formatGroup(group: ScimGroup) {
  const { group_id, display_name, external_id, members } = group
  const values = {
    id: group_id,
    displayName: display_name,
    ...(external_id === null ? {} : { externalId: external_id }),
    members: members.map(({ user_id, user_name }) => ({ value: user_id, display: user_name, type: 'User' })),
    meta: metaOf('Group', group),
  }
  return new SCIMMY.Schemas.Group(values as never, 'out', `${SCIM_BASE}/Groups`)
}

function metaOf(resourceType: string, { created_at, updated_at }: { created_at: Date; updated_at: Date }) {
  return { resourceType, created: created_at.toISOString(), lastModified: updated_at.toISOString() }
}

/** Applies a PATCH to a resource, and returns the body of the equivalent PUT. */
export async function patchResource(
  resource: ReturnType<typeof formatUser> | ReturnType<typeof formatGroup>,
  body: unknown,
): Promise<unknown> {
  const message = withBooleanOperations(requireObject(body))
  const patched = await Promise.resolve()
    .then(() => new SCIMMY.Messages.PatchOp(message as never).apply(resource as never))
    .catch((error) => {
      if (error instanceof TypeError) throw scimError(400, 'invalidValue', error.message)
      throw error
    })
  return JSON.parse(JSON.stringify(patched ?? resource))
}

/** Microsoft Entra ID sends "True" and "False" as texts. */
function withBooleanActive(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('active' in value)) return value
  return { ...value, active: toBoolean(value.active) }
}

function toBoolean(value: unknown): unknown {
  return typeof value === 'string' && /^(true|false)$/i.test(value) ? value.toLowerCase() === 'true' : value
}

function withBooleanOperations(message: object): object {
  const { Operations } = message as { Operations?: unknown }
  if (!Array.isArray(Operations)) return message
  return {
    ...message,
    Operations: Operations.map((operation) =>
      typeof operation?.path === 'string' && operation.path.toLowerCase() === 'active'
        ? { ...operation, value: toBoolean(operation.value) }
        : { ...operation, ...('value' in Object(operation) ? { value: withBooleanActive(operation.value) } : {}) },
    ),
  }
}

export interface ListQuery {
  filter?: string | undefined
  startIndex?: number | undefined
  count?: number | undefined
}

const DEFAULT_COUNT = 100
const MAX_COUNT = 500
const MAX_FILTER_LENGTH = 1000

/** Returns the resources that match the filter, in the format of a list. */
export function formatList(resources: object[], { filter, startIndex = 1, count = DEFAULT_COUNT }: ListQuery) {
  const plain = resources.map((resource) => JSON.parse(JSON.stringify(resource)) as object)
  if (filter !== undefined && filter.length > MAX_FILTER_LENGTH)
    throw scimError(400, 'invalidFilter', `The filter must have at most ${MAX_FILTER_LENGTH} characters.`)
  const matching =
    filter === undefined ? plain : parse(() => new SCIMMY.Types.Filter(filter).match(plain), 'invalidFilter')
  const first = Math.max(startIndex, 1)
  const page = matching.slice(first - 1, first - 1 + Math.min(Math.max(count, 0), MAX_COUNT))
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: matching.length,
    startIndex: first,
    itemsPerPage: page.length,
    Resources: page,
  }
}

/** Returns the comparison of a filter such as `userName eq "asha"`; undefined for all other filters. */
export function readEquality(filter: string | undefined): { attribute: string; value: string } | undefined {
  const [, attribute, value] = /^\s*(\w+) eq ("(?:[^"\\]|\\.)*")\s*$/i.exec(filter ?? '') ?? []
  if (attribute === undefined || value === undefined) return undefined
  try {
    return { attribute: attribute.toLowerCase(), value: JSON.parse(value) }
  } catch {
    return undefined
  }
}

export function serviceProviderConfig() {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: MAX_COUNT },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: false },
    authenticationSchemes: [
      { type: 'oauthbearertoken', name: 'Bearer token', description: 'The token from the console, as a Bearer token.' },
    ],
  }
}

export function resourceTypes() {
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:ResourceType']
  return ['User', 'Group'].map((name) => ({
    schemas,
    id: name,
    name,
    endpoint: `/${name}s`,
    schema: `urn:ietf:params:scim:schemas:core:2.0:${name}`,
  }))
}

export function schemaDefinitions(): object[] {
  return [SCIMMY.Schemas.User, SCIMMY.Schemas.Group].map(({ definition }) =>
    definition.describe(`${SCIM_BASE}/Schemas`),
  )
}
