/** The query of the list of candidates who are assigned to the signed-in member and wait for a decision. */
export const OPEN_ASSIGNMENTS_QUERY = 'assigned_to=me&decision=none'
