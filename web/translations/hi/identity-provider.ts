export default {
  'Identity provider': 'आइडेंटिटी प्रोवाइडर',
  'Saved.': 'सहेजा गया।',
  'Members of <team>the team</team> sign in with OpenID Connect, for example with Keycloak, Okta, Microsoft Entra ID or Google. See the guide <guide>Sign in with your identity provider</guide>.':
    '<team>टीम</team> के सदस्य OpenID Connect से साइन इन करते हैं, जैसे Keycloak, Okta, Microsoft Entra ID या Google से। गाइड देखें: <guide>अपने आइडेंटिटी प्रोवाइडर से साइन इन करें</guide>।',
  'Register Attestry at the identity provider as a web application (authorization code flow with PKCE), with this redirect URI:':
    'आइडेंटिटी प्रोवाइडर में Attestry को वेब ऐप्लिकेशन के रूप में (PKCE के साथ authorization code flow) इस रीडायरेक्ट URI के साथ रजिस्टर करें:',
  'the redirect URI': 'रीडायरेक्ट URI',
  'People sign in at {link}.': 'लोग {link} पर साइन इन करते हैं।',
  'Remove the identity provider': 'आइडेंटिटी प्रोवाइडर हटाएँ',
  'Remove the identity provider?': 'आइडेंटिटी प्रोवाइडर हटाएँ?',
  'Everyone who signed in with it is signed out, and signs in by email from now on.':
    'जिन्होंने इससे साइन इन किया है, वे सभी साइन आउट हो जाएँगे और अब से ईमेल से साइन इन करेंगे।',
  'Provisioning (SCIM 2.0)': 'प्रोविज़निंग (SCIM 2.0)',
  'With SCIM, the identity provider creates members and deactivates them at once, without waiting for their next sign-in. Its base URL is {url}.':
    'SCIM से आइडेंटिटी प्रोवाइडर सदस्यों को तुरंत जोड़ता और निष्क्रिय करता है; उनके अगले साइन इन का इंतज़ार नहीं करना पड़ता। इसका बेस URL {url} है।',
  'Enter this token at the identity provider. It is not shown again: {token}':
    'यह टोकन आइडेंटिटी प्रोवाइडर में दर्ज करें। यह दोबारा नहीं दिखाया जाएगा: {token}',
  'A token was created {createdAt}; last used {lastUsedAt}.':
    'टोकन बनाने का समय: {createdAt}; पिछला इस्तेमाल: {lastUsedAt}।',
  'Replace the token': 'टोकन बदलें',
  'Create a token': 'टोकन बनाएँ',
  'Revoke the token': 'टोकन निरस्त करें',
  'Name on the sign-in button': 'साइन-इन बटन पर नाम',
  'For example “Metro ID”.': 'जैसे “Metro ID”।',
  Issuer: 'इश्यूअर',
  'The URL below which /.well-known/openid-configuration is found.':
    'वह URL जिसके नीचे /.well-known/openid-configuration मिलता है।',
  'Client ID': 'क्लाइंट ID',
  'Client secret': 'क्लाइंट सीक्रेट',
  'A secret is stored. Leave the field empty to keep it.': 'सीक्रेट सहेजा हुआ है। उसे बनाए रखने के लिए फ़ील्ड खाली छोड़ें।',
  'Stored encrypted.': 'एन्क्रिप्ट करके सहेजा जाता है।',
  'Domains of email addresses': 'ईमेल पतों के डोमेन',
  'One per line. Addresses of other domains are rejected.': 'हर लाइन में एक। दूसरे डोमेन के पते अस्वीकार किए जाते हैं।',
  'Claim with the groups': 'ग्रुप वाला क्लेम',
  'The name of the claim in the ID token or the UserInfo response.': 'ID टोकन या UserInfo जवाब में क्लेम का नाम।',
  'Groups with the role {role}': '{role} भूमिका वाले ग्रुप',
  'One per line.': 'हर लाइन में एक।',
  'People without one of these groups': 'जो लोग इनमें से किसी ग्रुप में नहीं हैं',
  'cannot sign in': 'वे साइन इन नहीं कर सकते',
  'get the role {role}': 'उन्हें {role} भूमिका मिलती है',
  'Require this identity provider: nobody can sign in by email':
    'यह आइडेंटिटी प्रोवाइडर अनिवार्य करें: कोई भी ईमेल से साइन इन नहीं कर सकेगा',
  '“Require” {problem}.': '“अनिवार्य करें”: {problem}।',
}
