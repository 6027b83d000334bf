-- compatible with: 0023

-- When a test reviewer responds, or lets the review expire. Null for people, and after the response.
alter table verification_reviews add column test_response_at timestamptz;
create index verification_reviews_test_responses on verification_reviews (test_response_at) where test_response_at is not null;
