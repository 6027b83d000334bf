const mandate = {
  workflow_id: 'WF_BC_01KKDSD0J0P26SYTR42FVC31EH',
  title: 'Electrician',
  company_name: 'Metro Ltd',
  location: { city: 'Pune', state: 'Maharashtra', pincode: '411001' },
  openings: 12,
  salary: { min: 18_000, max: 24_000 },
  skills: [
    { skill_id: 'sk_2001', verify: true },
    { skill_id: 'sk_2005', verify: true },
    { skill_id: 'sk_2002' },
    { skill_id: 'sk_2003' },
    { skill_id: 'sk_2020' },
  ],
  enrichment_questions: [{ key: 'licence', type: 'yes_no', text: 'Do you hold a wireman licence?', knockout: 'no' }],
}

/** Examples of whole schemas, where one that has every property would not be accepted or not be realistic. */
export const schemaExamples: Record<string, unknown> = {
  MandateInput: { job_id: 'JOB-2026-118', ...mandate },
  MandateReplacement: mandate,
  WorkflowInput: {
    name: 'Site hiring',
    channels: ['whatsapp', 'sms'],
    languages: ['en', 'hi'],
    follow_ups: [{ after_hours: 24, channel: 'sms' }],
  },
  CampaignInput: {
    mandate_id: 'JM_01KKDSD0J0P26SYTR42FVC31EJ',
    name: 'Electricians Pune, March',
    candidates: [{ external_candidate_id: 'APP-90211', name: 'Asha Rao', phone: '+919990000001' }],
  },
  EnrolmentInput: {
    candidates: [{ external_candidate_id: 'APP-90212', name: 'Meena Iyer', phone: '+919990000002' }],
  },
  DuplicateRow: { index: 3, external_candidate_id: 'APP-90214', reason: 'phone', kept_index: 1 },
  SkillLookupInput: { names: ['House wiring'] },
  EventAcknowledgementInput: { event_ids: ['EV_01KKDSD0J0P26SYTR42FVC31EK'] },
  ReplayInput: { from: '2026-03-11T00:00:00.000Z', only_failed: true },
  ItemImportInput: {
    file_name: 'questions.csv',
    content: [
      'skill,id,kind,difficulty,stem_en,key_en,distractor1_en,distractor2_en,distractor3_en',
      'sk_2001,wiring-14,fact,2,Which cable size suits a 16 A socket?,2.5 sq mm,1 sq mm,1.5 sq mm,6 sq mm',
    ].join('\n'),
    dry_run: true,
  },
  VerificationSessionInput: {
    externalStudentId: 'stu-1',
    name: 'Asha Rao',
    email: 'asha@example.com',
    phone: '+919990000001',
    projects: [
      {
        externalProjectId: 'prj-1',
        projectName: 'Wiring of the hostel',
        role: 'Electrician trainee',
        description: 'Wiring and earthing of 40 rooms.',
        url: 'https://example.com/hostel',
        startDate: '2024-06',
        endDate: '2025-03',
      },
    ],
    workExperiences: [
      {
        externalExperienceId: 'exp-1',
        companyName: 'Metro Ltd',
        role: 'Electrician trainee',
        description: 'Wiring and maintenance of switchboards.',
        startDate: '2024-06',
        endDate: '2025-03',
      },
    ],
    certificates: [
      {
        externalCertificateId: 'crt-1',
        certificateName: 'ITI Electrician',
        issuer: 'ITI Pune',
        description: 'Two-year trade certificate.',
        url: 'https://example.com/certificates/crt-1',
        issueDate: '2024-06',
      },
    ],
    returnUrl: 'https://college.example/profile',
  },
  ReviewInput: {
    serviceVerificationId: 'SV_7K2M9QX4B8RNT5WZC3HJ6VDPGA',
    token: 'vrt_4Jw8sQmXb2Lk9RtYc6VnHd3PfGaEzU7oKi5SjTq1BxM',
    decisions: [{ skillId: 'sk_2001', endorsed: true, rating: 4, comment: 'Worked carefully and safely.' }],
  },
  WithdrawalInput: {
    serviceVerificationId: 'SV_7K2M9QX4B8RNT5WZC3HJ6VDPGA',
    token: 'vrt_4Jw8sQmXb2Lk9RtYc6VnHd3PfGaEzU7oKi5SjTq1BxM',
    reason: 'I reviewed the work of another person.',
  },
  QualificationReason: { kind: 'skill_not_verified', skill_id: 'sk_2001' },
}
