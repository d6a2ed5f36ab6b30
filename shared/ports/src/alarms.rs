//! Alarms: jobs that are queued at a given time.
//!
//! An alarm is a hint. The work itself is due in the table, so a lost alarm only delays it. A job
//! names the time that its alarm was set for; if the table has another time by then, the job does
//! nothing.

use async_trait::async_trait;
use smartspace_domain::{Time, jobs::TriggerJob};

/// Sets alarms. A failure is only logged, because the work is due in the table.
#[async_trait]
pub trait Alarms: Send + Sync {
    /// Queues `job` at `at` or soon after.
    async fn set(&self, at: Time, job: TriggerJob);
}

/// Sets no alarms, so that only `sweep` finds due items.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAlarms;

#[async_trait]
impl Alarms for NoAlarms {
    async fn set(&self, _at: Time, _job: TriggerJob) {}
}

#[cfg(feature = "aws")]
pub use aws::{Schedules, SqsAndSchedulerAlarms};

#[cfg(feature = "aws")]
mod aws {
    use std::{sync::Arc, time::Duration};

    use aws_sdk_scheduler::{
        error::DisplayErrorContext,
        operation::create_schedule::CreateScheduleError,
        types::{ActionAfterCompletion, FlexibleTimeWindow, FlexibleTimeWindowMode, Target},
    };
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    use sha2::{Digest, Sha256};
    use smartspace_domain::jobs::Job;

    use super::{Alarms, Time, TriggerJob, async_trait};
    use crate::{clock::Clock, envelope::seal};

    /// The longest delay of an SQS message. Later alarms get a schedule.
    const DELAYED: Duration = Duration::from_mins(15);

    /// The greatest distance of a schedule. An alarm further ahead gets a schedule for an earlier
    /// day and is set again then. So a form that is answered, or a plan that is changed, does not
    /// leave a schedule behind for years.
    const AHEAD: Duration = Duration::from_hours(24);

    /// The group of the schedules, and their target.
    #[derive(Clone, Debug)]
    pub struct Schedules {
        /// The schedule group.
        pub group: String,
        /// The ARN of the role that sends to the queue.
        pub role: String,
        /// The ARN of the triggers queue.
        pub target: String,
    }

    /// Alarms on AWS: a delayed message in the triggers queue, or beyond 15 minutes a one-time
    /// schedule that sends the message and is then deleted.
    pub struct SqsAndSchedulerAlarms {
        /// The SQS client.
        pub sqs: aws_sdk_sqs::Client,
        /// The URL of the triggers queue.
        pub queue: String,
        /// The EventBridge Scheduler client.
        pub scheduler: aws_sdk_scheduler::Client,
        /// The settings of schedules.
        pub schedules: Schedules,
        /// The clock.
        pub clock: Arc<dyn Clock>,
    }

    #[async_trait]
    impl Alarms for SqsAndSchedulerAlarms {
        async fn set(&self, at: Time, job: TriggerJob) {
            // SQS and the scheduler have a resolution of a second. Round up, because an alarm that
            // comes early has to be set again.
            let now = self.clock.now();
            let at = halt_before(at, at.since(now));
            let wait = at.since(now);
            let set = match delay_of(wait) {
                Some(seconds) => self.delay(seconds, &job).await,
                None => self.schedule(at, &job).await,
            };
            if let Err(error) = set {
                tracing::warn!(
                    event = "alarm_not_set",
                    %at,
                    ?job,
                    error,
                    "an alarm was not set; sweep finds its work when it is overdue"
                );
            }
        }
    }

    impl SqsAndSchedulerAlarms {
        async fn delay(&self, seconds: i32, job: &TriggerJob) -> Result<(), String> {
            let body = seal(job).map_err(|error| error.to_string())?;
            let message = self
                .sqs
                .send_message()
                .queue_url(&self.queue)
                .message_body(body)
                .message_group_id(job.group());
            message
                .delay_seconds(seconds)
                .send()
                .await
                .map(drop)
                .map_err(|error| DisplayErrorContext(error).to_string())
        }

        async fn schedule(&self, at: Time, job: &TriggerJob) -> Result<(), String> {
            let name = name_of(at, job)?;
            let second = up_to_second(at);
            let body = seal(job).map_err(|error| error.to_string())?;
            let target = Target::builder()
                .arn(&self.schedules.target)
                .role_arn(&self.schedules.role)
                .input(body)
                .build();
            let window = FlexibleTimeWindow::builder().mode(FlexibleTimeWindowMode::Off).build();
            let schedule =
                self.scheduler.create_schedule().group_name(&self.schedules.group).name(&name);
            let schedule = schedule
                .schedule_expression(format!(
                    "at({})",
                    second.to_whole_seconds().trim_end_matches('Z')
                ))
                .target(target.map_err(|error| error.to_string())?)
                .flexible_time_window(window.map_err(|error| error.to_string())?)
                .action_after_completion(ActionAfterCompletion::Delete)
                // Together with the name, it makes the call safe to repeat after a lost answer.
                .client_token(&name);
            match schedule.send().await {
                Ok(_) => Ok(()),
                // The same alarm was set before.
                Err(error)
                    if error
                        .as_service_error()
                        .is_some_and(CreateScheduleError::is_conflict_exception) =>
                {
                    Ok(())
                }
                Err(error) => Err(DisplayErrorContext(error).to_string()),
            }
        }
    }

    /// The delay of a message in seconds, rounded up. `None` if SQS refuses it as too long.
    fn delay_of(wait: Duration) -> Option<i32> {
        let seconds = i32::try_from(wait.as_millis().div_ceil(1000)).ok()?;
        (wait <= DELAYED).then_some(seconds)
    }

    /// The first future time that lies whole days before `at`, or `at` itself if it is less than a
    /// day ahead. Every caller gets the same time, so an alarm that is set twice is one schedule.
    fn halt_before(at: Time, wait: Duration) -> Time {
        let days = wait.as_millis().saturating_sub(1) / AHEAD.as_millis();
        let sooner = days.saturating_mul(AHEAD.as_millis());
        Time::from_millis(at.as_millis().saturating_sub(i64::try_from(sooner).unwrap_or(0)))
    }

    fn up_to_second(at: Time) -> Time {
        Time::from_millis(at.as_millis().saturating_add(999).div_euclid(1000).saturating_mul(1000))
    }

    /// The name of a schedule: up to 64 letters, digits, `-` and `_`. It is the same for the same
    /// alarm, so that an alarm is set once.
    fn name_of(at: Time, job: &TriggerJob) -> Result<String, String> {
        let job = serde_json::to_string(job).map_err(|error| error.to_string())?;
        let hash = Sha256::digest(format!("{} {job}", up_to_second(at).as_seconds()));
        Ok(URL_SAFE_NO_PAD.encode(hash))
    }

    #[cfg(test)]
    mod tests {
        use smartspace_domain::ids::RunId;

        use super::*;

        #[test]
        fn an_alarm_far_ahead_is_set_again_each_day_at_the_same_time() {
            let now = Time::from_millis(1_760_000_000_000);
            let hour = Duration::from_hours(1);
            let day = AHEAD;
            let halt = |ahead: Duration| halt_before(now + ahead, ahead).since(now);
            assert_eq!(
                [hour, day, day + hour, 2 * day, 3650 * day + hour].map(halt),
                [hour, day, hour, day, hour]
            );
            // Set again an hour later, it has the same halt; set again at the halt, it has the
            // next.
            let at = now + 3 * day + hour * 2;
            assert_eq!(halt_before(at, at.since(now + hour)), now + hour * 2);
            assert_eq!(halt_before(at, at.since(now + hour * 2)), now + hour * 2 + day);
        }

        #[test]
        fn an_alarm_within_fifteen_minutes_is_a_delayed_message() {
            let delays = [0, 1, 899_001, 900_000, 900_001, u64::MAX].map(Duration::from_millis);
            let expected = [Some(0), Some(1), Some(900), Some(900), None, None];
            assert_eq!(delays.map(delay_of), expected);
        }

        #[test]
        fn a_schedule_has_one_name_and_a_whole_second() {
            let job =
                |number| TriggerJob::WakeRun { run_id: RunId::new(Time::from_millis(1), number) };
            let early = Time::from_millis(1_760_000_000_001);
            let late = Time::from_millis(1_760_000_000_999);
            assert_eq!(up_to_second(early).to_whole_seconds(), "2025-10-09T08:53:21Z");
            assert_eq!(
                up_to_second(Time::from_millis(1_760_000_000_000)).to_whole_seconds(),
                "2025-10-09T08:53:20Z"
            );
            let name = name_of(early, &job(1)).unwrap();
            assert_eq!(name_of(late, &job(1)).unwrap(), name);
            assert_eq!(name.len(), 43);
            assert_ne!(name_of(early, &job(2)).unwrap(), name);
            assert_ne!(name_of(late + Duration::from_secs(1), &job(1)).unwrap(), name);
        }
    }
}
