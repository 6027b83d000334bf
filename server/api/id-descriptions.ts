/** Descriptions of the IDs with each prefix, for validation messages. */
export const idDescriptions: Record<string, string> = {
  CD_: 'a candidate ID such as CD_01HZX…',
  CP_: 'a campaign ID such as CP_01HZX…',
  EV_: 'an event ID such as EV_01HZX…',
  JM_: 'a mandate ID such as JM_01HZX…',
  MB_: 'a member ID such as MB_01HZX…',
  ML_: 'an email ID such as ML_01HZX…',
  ORG_: 'an organisation ID such as ORG_01HZX…',
  RS_: 'a result ID such as RS_01HZX…',
  SR_: 'a skill request ID such as SR_01HZX…',
  SV_: 'a verification ID such as SV_01HZX…',
  WF_: 'a workflow ID such as WF_BC_01HZX…',
  WH_: 'a webhook ID such as WH_01HZX…',
  ms_: 'a master skill ID such as ms_2001',
  sk_: 'a skill ID such as sk_2001',
  ss_: 'a sub-skill ID such as ss_2001',
}
