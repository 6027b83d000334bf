export const SCIM_BASE = '/scim/v2'
