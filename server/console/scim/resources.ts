import SCIMMY from 'scimmy'
import { unstorableReason } from '../../platform/http/json.ts'
import { parseJsonOrUndefined } from '../../platform/json.ts'
import { scimError } from './errors.ts'
import { filterResources, requireValidPath } from './filters.ts'
import type { GroupReference, ScimGroup, ScimGroupValues } from './groups.ts'
import { SCIM_BASE } from './paths.ts'
import type { ScimUser, ScimUserValues } from './users.ts'

/** Converts users and groups between the formats of SCIM (RFC 7643) and the database. */

const MAX_LENGTH = 254
const MAX_MEMBERS_PER_REQUEST = 1000
/** Maximum number of operations of a patch, of their values together, and of schemas or email addresses: the library takes quadratic time. */
const MAX_OPERATIONS = 100
/** Only ASCII: another letter can have the same lower-case form, and would match the address of another person. */
const EMAIL_FORMAT = /^[\x21-\x3f\x41-\x7e]{1,64}@[A-Za-z0-9][A-Za-z0-9.-]{0,189}$/

/** Runs a function of the library, whose errors about the request are TypeErrors. */
function parse<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (error instanceof TypeError) throw scimError(400, 'invalidValue', error.message)
    throw error
  }
}

function requireObject(body: unknown): object {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw scimError(400, 'invalidSyntax', 'The request body must be a JSON object.')
  return body
}

/** Attributes that we store, in lower case: names of attributes are case-insensitive. */
const USER_ATTRIBUTES = ['schemas', 'username', 'externalid', 'displayname', 'active', 'name', 'emails']
const GROUP_ATTRIBUTES = ['schemas', 'displayname', 'externalid']

/**
 * Returns the attributes of a resource that we store. The library would also check the others, with all their values, which can take a
 * second for a request of 256 KB.
 */
function pickAttributes(body: unknown, names: readonly string[]): object {
  const attributes = new Map<string, [string, unknown]>()
  for (const [key, value] of Object.entries(requireObject(body))) {
    const name = key.toLowerCase()
    if (!names.includes(name)) continue
    if (attributes.has(name)) throw scimError(400, 'invalidSyntax', `The attribute ${key} must be sent only once.`)
    if (Array.isArray(value) && value.length > MAX_OPERATIONS)
      throw scimError(400, 'invalidValue', `${key} must have at most ${MAX_OPERATIONS} values.`)
    attributes.set(name, [key, name === 'name' ? pickNames(value) : value])
  }
  return Object.fromEntries(attributes.values())
}

function pickNames(value: unknown): unknown {
  if (!isObject(value) || Array.isArray(value)) return value
  return pickAttributes(value, ['givenname', 'familyname'])
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

/** Reads a user, who replaces the existing one. A deactivation always succeeds: an address that is not allowed is then not adopted. */
export function readUser(body: unknown, allowedDomains: string[], existing?: ScimUser): ScimUserValues {
  const attributes = withBooleanActive(pickAttributes(body, USER_ATTRIBUTES)) as object
  const input = parse(() => new SCIMMY.Schemas.User(attributes, 'in')) as unknown as UserInput
  const { userName, emails = [], name, active = true } = input
  const newEmail = (emails.find(({ primary }) => primary) ?? emails[0])?.value ?? userName
  const isUnchanged = existing?.active && newEmail.toLowerCase() === existing.email.toLowerCase()
  const error = isUnchanged ? undefined : addressError(newEmail, allowedDomains)
  if (error !== undefined && (existing === undefined || active)) throw scimError(400, 'invalidValue', error)
  const email = error === undefined ? newEmail : existing!.email
  const values = {
    user_name: userName,
    external_id: input.externalId ?? null,
    email,
    display_name: input.displayName ?? null,
    given_name: name?.givenName ?? null,
    family_name: name?.familyName ?? null,
    active,
  }
  for (const [field, value] of Object.entries(values))
    if (typeof value === 'string' && value.length > MAX_LENGTH)
      throw scimError(400, 'invalidValue', `${field} must have at most ${MAX_LENGTH} characters.`)
  return values
}

function addressError(email: string, allowedDomains: string[]): string | undefined {
  if (!EMAIL_FORMAT.test(email)) return 'The user needs an email address, in `emails` or as `userName`.'
  const domain = email.slice(email.indexOf('@') + 1).toLowerCase()
  return allowedDomains.includes(domain)
    ? undefined
    : `The domain ${domain} is not one of the identity provider's allowed domains.`
}

/**
 * Returns a user in the format of SCIM, as a plain object. The classes of the library take half a millisecond to do the same, so that a
 * list of some thousand users would block the server for seconds.
 */
export function formatUser(user: ScimUser, groups: GroupReference[] = []) {
  const { user_id, external_id, display_name, given_name, family_name } = user
  const name = {
    ...(given_name === null ? {} : { givenName: given_name }),
    ...(family_name === null ? {} : { familyName: family_name }),
  }
  return {
    schemas: [SCIMMY.Schemas.User.definition.id],
    id: user_id,
    ...(external_id === null ? {} : { externalId: external_id }),
    meta: metaOf('User', user_id, user),
    userName: user.user_name,
    ...(Object.keys(name).length === 0 ? {} : { name }),
    ...(display_name === null ? {} : { displayName: display_name }),
    active: user.active,
    emails: [{ value: user.email, type: 'work', primary: true }],
    ...(groups.length === 0
      ? {}
      : { groups: groups.map(({ group_id, display_name: display }) => ({ value: group_id, display })) }),
  }
}

export function readGroup(body: unknown): ScimGroupValues {
  const memberIds = readMemberIds(body)
  const attributes = pickAttributes(body, GROUP_ATTRIBUTES)
  const input = parse(() => new SCIMMY.Schemas.Group(attributes, 'in')) as unknown as {
    displayName: string
    externalId?: string
  }
  if (input.displayName.length > MAX_LENGTH)
    throw scimError(400, 'invalidValue', `displayName must have at most ${MAX_LENGTH} characters.`)
  return {
    display_name: input.displayName,
    external_id: input.externalId ?? null,
    memberIds,
  }
}

/** Returns the members of a group. The library does not get them: it would compare all of them with each other. */
function readMemberIds(body: unknown): string[] {
  const [attribute, ...others] = Object.entries(requireObject(body)).filter(([key]) => key.toLowerCase() === 'members')
  if (others.length > 0) throw scimError(400, 'invalidSyntax', 'The attribute members must be sent only once.')
  const members = attribute?.[1] ?? []
  if (!Array.isArray(members)) throw scimError(400, 'invalidValue', 'members must be a list.')
  requireFewMembers(members.length)
  return idsOf(members).filter(isUserId)
}

/** Other values cannot be IDs of users, and are ignored like unknown IDs. */
function isUserId(value: string): boolean {
  return /^SU_\w{1,60}$/.test(value)
}

export function formatGroup(group: ScimGroup) {
  const { group_id, display_name, external_id, members } = group
  return {
    schemas: [SCIMMY.Schemas.Group.definition.id],
    id: group_id,
    ...(external_id === null ? {} : { externalId: external_id }),
    meta: metaOf('Group', group_id, group),
    displayName: display_name,
    members: members.map(({ user_id, user_name }) => ({ value: user_id, display: user_name, type: 'User' })),
  }
}

function metaOf(
  resourceType: 'User' | 'Group',
  id: string,
  { created_at, updated_at }: { created_at: Date; updated_at: Date },
) {
  const location = `${SCIM_BASE}/${resourceType}s/${id}`
  return { resourceType, created: created_at.toISOString(), lastModified: updated_at.toISOString(), location }
}

/** Applies a PATCH to a user, and returns the body of the equivalent PUT. */
export function patchUser(user: ScimUser, body: unknown): Promise<unknown> {
  const resource = new SCIMMY.Schemas.User(formatUser(user) as never, 'out')
  return applyOperations(resource, readOperations(body))
}

/** Applies a PATCH to a group. The library does not get the members. */
export async function patchGroup(group: ScimGroup, body: unknown): Promise<ScimGroupValues> {
  const memberIds = new Set(group.members.map(({ user_id }) => user_id))
  let changes = 0
  const otherOperations = readOperations(body).flatMap((operation) => {
    const { membersOperation, otherOperation } = splitMembersOperation(operation)
    if (membersOperation) {
      changes += changeMembers(memberIds, membersOperation)
      requireFewMembers(changes)
    }
    return otherOperation ? [otherOperation] : []
  })
  const resource = new SCIMMY.Schemas.Group(formatGroup({ ...group, members: [] }) as never, 'out')
  const values = readGroup(await applyOperations(resource, otherOperations))
  return { ...values, memberIds: [...memberIds] }
}

interface Operation {
  op: string
  path?: string
  value?: unknown
}

/** Reads the operations of a patch, whose format the library checks. */
function readOperations(body: unknown): Operation[] {
  const { schemas, Operations } = requireObject(body) as { schemas?: unknown; Operations?: unknown }
  requireFewOperations(schemas)
  // Some identity providers send one operation for each member.
  if (Array.isArray(Operations)) requireFewMembers(Operations.length)
  const message = withBooleanOperations({ schemas, Operations })
  return parse(() => new SCIMMY.Messages.PatchOp(message as never)).Operations as Operation[]
}

async function applyOperations(
  resource: InstanceType<typeof SCIMMY.Schemas.User | typeof SCIMMY.Schemas.Group>,
  operations: Operation[],
): Promise<unknown> {
  const checked = checkOperations(operations)
  if (checked.length === 0) return toPlain(resource)
  const schemas = [SCIMMY.Messages.PatchOp.id]
  const patched = await Promise.resolve()
    .then(() => new SCIMMY.Messages.PatchOp({ schemas, Operations: checked } as never).apply(resource as never))
    .catch((error) => {
      if (error instanceof TypeError) throw scimError(400, 'invalidValue', error.message)
      throw error
    })
  return toPlain(patched ?? resource)
}

const toPlain = (resource: object) => JSON.parse(JSON.stringify(resource)) as object

/** Throws an error if the library should not get the operations. Returns them with one operation for each value to remove. */
function checkOperations(operations: Operation[]): Operation[] {
  requireFewOperations(operations)
  requireFewOperations(operations.flatMap(valuesOfOperation))
  const checked = operations.flatMap((operation) => {
    const { op, path, value } = operation
    if (path === undefined && isObject(value)) for (const key of Object.keys(value)) requireValidPath(key)
    if (path === undefined) return [operation]
    requireValidPath(path)
    return op.toLowerCase() === 'remove' ? splitRemoval(operation, path) : [operation]
  })
  requireFewOperations(checked)
  return checked
}

/** Returns the values that an operation changes. Without a path, its value is an object of attributes. */
function valuesOfOperation({ path, value }: Operation): unknown[] {
  if (path !== undefined || !isObject(value)) return [value].flat()
  return Object.values(value).flat()
}

function requireFewOperations(values: unknown): void {
  if (Array.isArray(values) && values.length > MAX_OPERATIONS)
    throw scimError(
      400,
      'invalidValue',
      `A patch must have at most ${MAX_OPERATIONS} operations, and ${MAX_OPERATIONS} values in total.`,
    )
}

function requireFewMembers(count: number): void {
  if (count > MAX_MEMBERS_PER_REQUEST)
    throw scimError(
      400,
      'invalidValue',
      `A request must have at most ${MAX_MEMBERS_PER_REQUEST} members. Add the others with PATCH requests.`,
    )
}

/** The library would make a filter of the values of a removal, such as `[{ "value": "SU_…" }]`. */
function splitRemoval(operation: Operation, path: string): Operation[] {
  const { op, value } = operation
  if ([value].flat().every((each) => !isObject(each))) return [operation]
  return idsOf(value).map((id) => {
    const valuePath = `${path}[value eq "${id}"]`
    requireValidPath(valuePath)
    return { op, path: valuePath }
  })
}

/** Returns the IDs of values such as `[{ "value": "SU_…" }]`. */
function idsOf(values: unknown): string[] {
  return [values].flat().map((each) => {
    if (isObject(each) && 'value' in each && typeof each.value === 'string') return each.value
    throw scimError(400, 'invalidValue', 'Each value must be an object with the text `value`.')
  })
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

const MEMBERS_PATH = /^(?:urn:ietf:params:scim:schemas:core:2\.0:Group:)?members(?:\[value eq "([^"\\]*)"\])?$/i

/** Separates the change of the members from the other changes of an operation. */
function splitMembersOperation(operation: Operation): { membersOperation?: Operation; otherOperation?: Operation } {
  const { op, path, value } = operation
  if (path !== undefined)
    return MEMBERS_PATH.test(path) ? { membersOperation: operation } : { otherOperation: operation }
  if (!isObject(value) || Array.isArray(value)) return { otherOperation: operation }
  const [members, others] = [true, false].map((isMembers) =>
    Object.entries(value).filter(([key]) => MEMBERS_PATH.test(key) === isMembers),
  )
  return {
    ...(members!.length === 0 ? {} : { membersOperation: { op, path: members![0]![0], value: members![0]![1] } }),
    ...(others!.length === 0 ? {} : { otherOperation: { op, value: Object.fromEntries(others!) } }),
  }
}

/** Adds, replaces or removes members, and returns the number of values in the operation. */
function changeMembers(memberIds: Set<string>, { op, path = '', value }: Operation): number {
  const [, pathId] = MEMBERS_PATH.exec(path) ?? []
  const isRemoval = op.toLowerCase() === 'remove'
  if (pathId !== undefined && !isRemoval)
    throw scimError(400, 'invalidPath', 'A member can be added or removed, but not changed.')
  const ids = pathId !== undefined ? [pathId] : isRemoval && value === undefined ? [...memberIds] : idsOf(value)
  if (op.toLowerCase() === 'replace') memberIds.clear()
  for (const id of ids) {
    if (isRemoval) memberIds.delete(id)
    else if (isUserId(id)) memberIds.add(id)
  }
  return isRemoval && pathId === undefined && value === undefined ? 1 : ids.length
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

/** Returns the resources that match the filter, in the format of a list. */
export function formatList(resources: object[], { filter, ...page }: ListQuery): Promise<object> {
  const matching = filter === undefined ? resources : filterResources(resources, filter)
  return formatPage(matching, page, (items) => items)
}

/** Returns a page of a list. Only the items of the page are formatted. */
export async function formatPage<T>(
  items: T[],
  { startIndex = 1, count = DEFAULT_COUNT }: Omit<ListQuery, 'filter'>,
  format: (items: T[]) => object[] | Promise<object[]>,
) {
  const first = Math.max(startIndex, 1)
  const page = items.slice(first - 1, first - 1 + Math.min(Math.max(count, 0), MAX_COUNT))
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: items.length,
    startIndex: first,
    itemsPerPage: page.length,
    Resources: await format(page),
  }
}

/** Returns the comparison of a filter such as `userName eq "asha"`; undefined for all other filters. */
export function readEquality(filter: string | undefined): { attribute: string; value: string } | undefined {
  const [, attribute, value] = /^\s*(\w+) eq ("(?:[^"\\]|\\.)*")\s*$/i.exec(filter ?? '') ?? []
  if (attribute === undefined || value === undefined) return undefined
  const text = parseJsonOrUndefined(value)
  // The database cannot compare a text that it cannot store.
  if (typeof text !== 'string' || unstorableReason(text)) return undefined
  return { attribute: attribute.toLowerCase(), value: text }
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
