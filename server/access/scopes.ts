export const allScopes = [
  'skills:read',
  'skills:request',
  'workflows:read',
  'workflows:write',
  'items:read',
  'items:write',
  'mandates:read',
  'mandates:write',
  'campaigns:read',
  'campaigns:write',
  'results:read',
  'events:read',
  'events:write',
  'webhooks:read',
  'webhooks:write',
  'analytics:read',
  'credentials:read',
  'credentials:write',
  'people:read',
  'people:write',
  'logs:read',
] as const

export type Scope = (typeof allScopes)[number]

export function isScope(text: string): text is Scope {
  return (allScopes as readonly string[]).includes(text)
}
